//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Fields of /proc/PID/stat behind the program's name, counted from field 3 (proc(5)). The times of
// children are of those that have ended and were waited for.
const (
	statParent   = 4 - 3
	statUser     = 14 - 3
	statChildren = 17 - 3 // the last of utime, stime, cutime, cstime
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

func statFields(path string) ([]string, error) {
	stat, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= statChildren {
		return nil, fmt.Errorf("parsing %s: %d fields after the program name", path, len(fields))
	}
	return fields, nil
}

// treeCPU is cpuTime of a process and all its descendants, those that have ended included.
func treeCPU(root int) (time.Duration, error) {
	pids, err := tree(root)
	if err != nil {
		return 0, err
	}
	var ticks uint64
	for _, pid := range pids {
		fields, err := statFields(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			if pid == root {
				return 0, err
			}
			continue // its time is its parent's now
		}
		for _, field := range fields[statUser : statChildren+1] {
			n, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("parsing the times of process %d: %w", pid, err)
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * tickLength(), nil
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
