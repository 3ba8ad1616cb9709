//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// defaultClockTick is USER_HZ if the auxiliary vector does not say.
const defaultClockTick = 100

// atClockTick is AT_CLKTCK of getauxval(3): the unit of the times in /proc/PID/stat.
const atClockTick = 17

// memory has the figures of /proc/PID/status, in KiB.
type memory struct {
	RSS  uint64 // VmRSS: resident now
	Anon uint64 // RssAnon: resident without file pages, which is heap and stacks
	Peak uint64 // VmHWM: most ever resident since start or since resetPeak
}

// Fields of /proc/PID/stat behind the program's name, counted from field 3 (proc(5)). The times of
// children are of those that have ended and were waited for.
const (
	statParent   = 4 - 3
	statUser     = 14 - 3
	statSystem   = 15 - 3
	statChildren = 17 - 3 // the last of utime, stime, cutime, cstime
)

// cpuTime returns the user and system time that the process has used, children excluded, in steps
// of one clock tick.
func cpuTime(pid int) (time.Duration, error) {
	fields, err := statFields(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	return sumTicks(fields[statUser : statSystem+1])
}

// statFields returns the fields behind the program's name, which may contain blanks and brackets.
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

// sumTicks adds up times of a stat file.
func sumTicks(fields []string) (time.Duration, error) {
	var ticks uint64
	for _, field := range fields {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("parsing the times of a process: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tickLength(), nil
}

func readMemory(pid int) (memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, err
	}
	return parseStatus(status)
}

// parseStatus parses the memory lines of /proc/PID/status. Kernels before 4.5 have no RssAnon; the
// resident size then replaces it.
func parseStatus(status []byte) (memory, error) {
	var m memory
	into := map[string]*uint64{"VmRSS": &m.RSS, "RssAnon": &m.Anon, "VmHWM": &m.Peak}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		dst, ok := into[name]
		if !ok {
			continue
		}
		number, unit, _ := strings.Cut(strings.TrimSpace(value), " ")
		kib, err := strconv.ParseUint(number, 10, 64)
		if err != nil || unit != "kB" {
			return memory{}, fmt.Errorf("parsing status: %s is %q", name, strings.TrimSpace(value))
		}
		*dst = kib
	}
	if m.RSS == 0 {
		return memory{}, fmt.Errorf("parsing status: no resident memory, the process has ended")
	}
	if m.Anon == 0 {
		m.Anon = m.RSS
	}
	return m, nil
}

// resetPeak restarts VmHWM from now (proc(5), clear_refs). Without it the peak is that of the
// largest case so far.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// tickLength is the resolution of cpuTime.
func tickLength() time.Duration {
	auxv, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return time.Second / defaultClockTick
	}
	return time.Second / time.Duration(parseClockTick(auxv))
}

// parseClockTick finds the ticks a second in an auxiliary vector of a 64-bit process, pairs of type
// and value.
func parseClockTick(auxv []byte) uint64 {
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		value := binary.NativeEndian.Uint64(auxv[8:])
		if binary.NativeEndian.Uint64(auxv) == atClockTick && value > 0 {
			return value
		}
	}
	return defaultClockTick
}
