package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// soakEnough records of a kind contain all its codes: the rarest is one in twelve. Of ten
// times as many clients that left, one's answer was read on: of these it is one in a hundred.
const soakEnough = 100

// report prints the endings, and which did not happen.
func (s *soak) report() {
	type line struct {
		calls, in, rows, left int
		ends                  [soakEnds]int
		codes                 map[string]int
	}
	lines := make([]line, len(s.kinds))
	all := map[string]int{}
	for n := range min(int(s.next.Load()), len(s.notes)) {
		note := &s.notes[n]
		if note.kind < 0 {
			continue
		}
		l := &lines[note.kind]
		if l.codes == nil {
			l.codes = map[string]int{}
		}
		l.calls++
		l.in += int(note.seen.Load() & 0xff)
		l.rows += int(note.rows)
		l.ends[note.end]++
		if note.left {
			l.left++
		}
		if note.rows > 0 {
			code := note.code
			if code == "" {
				code = "ok"
			}
			l.codes[code]++
			all[code]++
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-24s %7s %7s %7s | %7s %7s %7s %7s %7s %7s | records\n", "kind", "calls", "came in", "records", "whole", "refused", "event", "cut", "none", "left")
	for i, l := range lines {
		fmt.Fprintf(&text, "%-24s %7d %7d %7d | %7d %7d %7d %7d %7d %7d | %s\n", s.kinds[i].name, l.calls, l.in, l.rows,
			l.ends[endWhole], l.ends[endRefused], l.ends[endEvent], l.ends[endCut], l.ends[endNone], l.left, countsOf(l.codes))
		for _, code := range strings.Fields(s.kinds[i].codes) {
			if l.codes[code] == 0 && l.rows >= soakEnough {
				s.faults.add("%s: no record says %s", s.kinds[i].name, code)
			}
		}
		if l.in == 0 {
			s.faults.add("%s: no call came in", s.kinds[i].name)
		}
	}
	fmt.Fprintf(&text, "records by code: %s\nby source of usage: %s; drained with the provider's usage: %d; timed out on a busy machine: %d\n",
		countsOf(all), countsOf(s.rows.sources), s.rows.drained, s.rows.late)
	for _, subject := range s.rows.subjects() {
		sum := s.rows.sums[subject]
		fmt.Fprintf(&text, "%-14s %s USD, %d tokens\n", subject, limits.FormatMoney(sum.nano), sum.tokens)
	}
	fmt.Fprintf(&text, "without an answer: %s\n", countsOf(s.dropped))
	for line, n := range soakLines.take() {
		fmt.Fprintf(&text, "logged %d times: %s\n", n, line)
		if strings.Contains(line, "not recorded") || strings.Contains(line, "panic") {
			s.faults.add("logged %d times: %s", n, line)
		}
	}
	fmt.Fprintf(&text, "streams at the end of a process: %s; %d reloads and %d that failed; the database failed %d times, and %d calls for it; %d faults", countsOf(s.rows.exits), s.reloads, s.misreloads, s.storeFaults, s.rows.unavailable, s.faults.n)
	s.t.Log("\n" + text.String())
	if s.rows.drained == 0 && all[leaving] >= 10*soakEnough {
		s.faults.add("no answer was read on after its client")
	}
}

func countsOf(m map[string]int) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", key, m[key]))
	}
	return strings.Join(parts, ", ")
}
