//go:build linux

package main

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"time"
)

func TestStatTimesAreCountedFromTheLastBracket(t *testing.T) {
	const times = " S 1 4242 4242 0 -1 4194560 5200 0 3 0 1234 567 89 10 20 0 9 0 3580 1300000 13500 18446744073709551615"
	tests := []struct {
		name, stat string
		want       uint64
		fails      bool
	}{
		{"plain name", "4242 (caddy)" + times, 1801, false},
		{"name with blanks and brackets", "4242 (a ) R (b)" + times, 1801, false},
		{"no name", "4242 caddy" + times, 0, true},
		{"too short", "4242 (caddy) S 1 2 3", 0, true},
		{"times that are no numbers", "4242 (caddy)" + strings.Replace(times, "567", "x", 1), 0, true},
		{"empty", "", 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseStat([]byte(tt.stat))
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("parseStat = %d, %v; want %d", got, err, tt.want)
			}
		})
	}
}

func TestStatusGivesResidentAnonymousAndPeak(t *testing.T) {
	const lines = "Name:\tcaddy\nVmPeak:\t 1300000 kB\nVmHWM:\t   60000 kB\nVmRSS:\t   54000 kB\nRssAnon:\t   20000 kB\nThreads:\t9\n"
	got, err := parseStatus([]byte(lines))
	if want := (memory{RSS: 54000, Anon: 20000, Peak: 60000}); err != nil || got != want {
		t.Errorf("parseStatus = %+v, %v; want %+v", got, err, want)
	}
	got, err = parseStatus([]byte(strings.Replace(lines, "RssAnon", "RssOther", 1)))
	if err != nil || got.Anon != got.RSS {
		t.Errorf("without RssAnon: %+v, %v; want the resident size in its place", got, err)
	}
	for name, bad := range map[string]string{
		"a zombie has none": "Name:\tcaddy\nState:\tZ (zombie)\n",
		"another unit":      "VmRSS:\t 54 MB\n",
		"no number":         "VmRSS:\t many kB\n",
	} {
		if got, err := parseStatus([]byte(bad)); err == nil {
			t.Errorf("%s: parseStatus = %+v without an error", name, got)
		}
	}
}

func TestClockTickComesFromTheAuxiliaryVector(t *testing.T) {
	vector := func(pairs ...uint64) (out []byte) {
		for _, v := range pairs {
			out = binary.NativeEndian.AppendUint64(out, v)
		}
		return out
	}
	tests := []struct {
		name string
		auxv []byte
		want uint64
	}{
		{"told", vector(6, 4096, atClockTick, 250, 0, 0), 250},
		{"not told", vector(6, 4096, 0, 0), defaultClockTick},
		{"zero", vector(atClockTick, 0, 0, 0), defaultClockTick},
		{"cut", vector(atClockTick, 250)[:12], defaultClockTick},
		{"empty", nil, defaultClockTick},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := parseClockTick(tt.auxv); got != tt.want {
				t.Errorf("parseClockTick = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestOwnProcessUsesTimeAndMemory(t *testing.T) {
	before, err := cpuTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	after := before
	for begun := time.Now(); after <= before; {
		if after, err = cpuTime(os.Getpid()); err != nil {
			t.Fatal(err)
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("ten seconds of reading cost no time: %v", after)
		}
	}
	m, err := readMemory(os.Getpid())
	if err != nil || m.RSS == 0 || m.Anon > m.RSS || m.Peak < m.Anon {
		t.Errorf("readMemory = %+v, %v", m, err)
	}
	if _, err := cpuTime(-1); err == nil {
		t.Error("a process that does not exist has used time")
	}
}
