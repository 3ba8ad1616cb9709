package soak

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// soakMemory is memory in bytes, after a collection, and the number of open file descriptors.
type soakMemory struct {
	heap, objects, rss uint64
	files              int
}

// sample prints memory and the progress of the soak.
func (s *soak) sample(when string) soakMemory {
	for range 3 { // pools are emptied in two rounds
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m := soakMemory{stats.HeapAlloc, stats.HeapObjects, rss(), openFiles()}
	s.t.Logf("%6.1f s %-8s %8d calls %8d records %4d reloads: heap %6.2f MiB in %7d objects, RSS %6.1f MiB, %4d goroutines, %4d files",
		time.Since(s.began).Seconds(), when, s.next.Load(), s.rows.n, s.reloads, mib(m.heap), m.objects, mib(m.rss), s.goroutines(), m.files)
	return m
}

func mib(n uint64) float64 { return float64(n) / (1 << 20) }

// rss is the process's resident memory, 0 if unknown.
func rss() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

// openFiles is the number of open file descriptors, 0 if unknown.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// soakLong is the duration from which a soak's memory must be flat. Its calls are then made over
// HTTP/1.1 only: Caddy v2.11.9 keeps about half of the configurations that have served HTTP/2, with
// Gatehouse in them or without.
const soakLong = time.Minute

func soakIsLong() bool { return *soakTime >= soakLong }

// fillCaches fills what otherwise fills slowly in a long soak: the owners of stored responses. The
// ledger's memory of ended calls, its bound 16,384, is full before the half.
func (s *soak) fillCaches() {
	if !soakIsLong() {
		return
	}
	own := s.gateway().Requests().Owners
	for n := range soakOwners {
		if err := own.Record("response", "fake", fmt.Sprintf("resp_fill_%d", n), soakAlpha); err != nil {
			s.t.Fatal(err)
		}
	}
}

// soakOwners is as many owners as are held in memory.
const soakOwners = 65_536

// How much the heap may grow, in bytes, between the half and the end. The second is for a short
// soak, which fills caches.
const (
	soakGrowth      = 3 << 20
	soakShortGrowth = 24 << 20
)

func (s *soak) checkMemory(half, end soakMemory) {
	most := uint64(soakGrowth)
	if !soakIsLong() {
		most = soakShortGrowth
	}
	if end.heap > half.heap+most {
		s.faults.add("the heap grew from %.2f MiB at the half to %.2f MiB", mib(half.heap), mib(end.heap))
	}
	if end.files > half.files+soakSlack {
		s.faults.add("%d files are open at the end, %d were at the half", end.files, half.files)
	}
}
