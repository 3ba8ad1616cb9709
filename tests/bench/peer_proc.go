//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tree has the process and all its descendants that run now.
func tree(root int) ([]int, error) {
	children := map[int][]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	for _, path := range stats {
		fields, err := statFields(path)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[statParent])
		children[parent] = append(children[parent], pid)
	}
	pids := []int{root}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids, nil
}

// treeCPU is cpuTime of a process and all its descendants, those that have ended included.
func treeCPU(root int) (time.Duration, error) {
	pids, err := tree(root)
	if err != nil {
		return 0, err
	}
	var all time.Duration
	for _, pid := range pids {
		fields, err := statFields(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			if pid == root {
				return 0, err
			}
			continue // its time is its parent's now
		}
		used, err := sumTicks(fields[statUser : statChildren+1])
		if err != nil {
			return 0, err
		}
		all += used
	}
	return all, nil
}

// treeMemory is the memory of a process and all its descendants, in KiB: what several of them share
// counts once (Pss).
func treeMemory(root int) (kib uint64, err error) {
	pids, err := tree(root)
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			if pid == root {
				return 0, err
			}
			continue // it has ended
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "Pss:"); ok {
				n, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
				if err != nil {
					return 0, fmt.Errorf("parsing smaps_rollup: %w", err)
				}
				kib += n
			}
		}
	}
	return kib, nil
}

// cpuTime is the CPU time that the server has used so far.
func (s *session) cpuTime() (time.Duration, error) {
	if s.tree {
		return treeCPU(s.server.proc.PID())
	}
	return cpuTime(s.server.proc.PID())
}

func (s *session) memory() (memory, error) {
	m, err := readMemory(s.server.proc.PID())
	if err == nil && s.tree {
		m.RSS, err = treeMemory(s.server.proc.PID())
	}
	return m, err
}
