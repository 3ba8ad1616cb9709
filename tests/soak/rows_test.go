package soak

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// soakSum is what the records say a subject has spent.
type soakSum struct{ nano, tokens int64 }

// soakRows are sums over the records. They are read while the soak runs, before they are pruned.
type soakRows struct {
	from    time.Time // records before it have been read
	n       int
	sums    map[string]soakSum
	sources map[string]int
	exits   map[string]int // how the streams of soak.exits ended
	late    int            // calls that timed out because the machine was busy
	drained int            // calls whose client had disconnected and whose usage the provider reported
	// unavailable calls came while the file of the database was away.
	unavailable int
}

func (r *soakRows) init() {
	r.from = time.Now()
	r.sums, r.sources, r.exits = map[string]soakSum{}, map[string]int{}, map[string]int{}
}

// gateway is the current one.
func (s *soak) gateway() *gateway.Gateway {
	s.t.Helper()
	running, err := caddykit.Running[*gateway.Gateway]()
	if err != nil {
		s.t.Fatal(err)
	}
	return running
}

// read reads the records of calls that arrived before an instant, all of which have ended.
func (r *soakRows) read(s *soak, to time.Time) {
	s.t.Helper()
	if !to.After(r.from) {
		return
	}
	log := s.gateway().Requests().Activity
	for _, tenant := range append(soakTenants, soakDesktops) {
		filter := activity.Filter{Tenant: tenant, From: r.from, To: to, Limit: activity.MaxLimit}
		for {
			page, err := log.Query(s.t.Context(), filter)
			if err != nil {
				s.t.Fatal(err)
			}
			for i := range page.Records {
				switch row := &page.Records[i]; {
				case tenant != soakDesktops:
					r.take(s, row)
				case row.Route == soakSession:
					s.desk.take(row)
				}
			}
			if filter.Cursor = page.Next; page.Next == "" {
				break
			}
		}
	}
	r.from = to
}

// soakLate are endings that every call can have on a busy machine.
var soakLate = map[string]bool{"upstream_timeout": true, "request_timeout": true}

// take adds a record, and compares it with what its client and its provider saw.
func (r *soakRows) take(s *soak, row *activity.Record) {
	r.n++
	r.sources[s.words.of(row.UsageSource)]++
	for _, subject := range []string{"key:" + row.Key, "tenant:" + row.Tenant, "gateway"} {
		sum := r.sums[subject]
		r.sums[subject] = soakSum{sum.nano + row.CostNano, sum.tokens + row.PromptTokens + row.CompletionTokens}
	}
	if row.Code == leaving && row.UsageSource == "provider" {
		r.drained++
	}
	n := markIn(row.ClientRequestID)
	if n < 0 || n >= len(s.notes) {
		r.exits[s.words.of(row.Code+" "+row.UsageSource)]++
		return // of a process that was ended
	}
	note := &s.notes[n]
	seen := note.seen.Load()
	if seen&seenOver == 0 {
		s.faults.add("call %d has a record and has not ended: %+v", n, row)
		return
	}
	kind := &s.kinds[note.kind]
	note.rows++
	note.code = s.words.of(row.Code)
	word := note.code
	if word == "" {
		word = "ok"
	}
	if soakLate[word] && !strings.Contains(kind.codes, word) {
		r.late++
	} else if s.refusedByStore(row) {
		r.unavailable++
	} else if !slices.Contains(append(strings.Fields(kind.codes), strings.Fields(kind.also)...), word) {
		s.faults.add("%s, call %d, seed %d: %s (%d %q): %+v", kind.name, n, *soakSeed, word, note.status, note.word, row)
	}
	if sent := row.Attempts > 0; !sent && seen&seenArrived != 0 || sent != (seen&seenArrived != 0) && !note.left {
		s.faults.add("%s, call %d: %d attempts, at the provider: %v", kind.name, n, row.Attempts, seen&seenArrived != 0)
	}
	if (row.CostNano > 0 || row.PromptTokens > 0) && row.Attempts == 0 {
		s.faults.add("%s, call %d was not sent and cost something: %+v", kind.name, n, row)
	}
	note.compare(s, kind, row)
	checkPrice(s, n, row)
}

// compare reports where the record differs from what the client saw.
func (note *soakNote) compare(s *soak, kind *soakKind, row *activity.Record) {
	same := true
	switch note.end {
	case endWhole:
		same = row.Code == "" && row.Status == 200 || kind.reportsFailure
	case endRefused:
		same = row.Status == int(note.status) && note.isNamed(row.Code)
	case endEvent:
		same = note.isNamed(row.Code) || kind.reportsFailure && note.word == ""
	case endNone, endCut: // clients that disconnected and calls that panicked see nothing of the end
	}
	if !same {
		s.faults.add("%s, call %s: the client saw %s %d %q, the record says %d %q", kind.name, row.ClientRequestID,
			soakEndNames[note.end], note.status, note.word, row.Status, row.Code)
	}
	if note.leaked {
		s.faults.add("%s, call %s: the answer holds what should be taken out", kind.name, row.ClientRequestID)
	}
}

// isNamed reports whether the client's word is the code, or its name in the OpenRouter API.
func (note *soakNote) isNamed(code string) bool {
	words, _ := harness.ErrorTypes(int(note.status), code)
	return code != "" && (note.word == code || note.word == words[1])
}

// checkPrice computes the known part of the cost independently.
func checkPrice(s *soak, n int, row *activity.Record) {
	want, known := int64(0), false
	switch u := usageOf(n); {
	case row.UsageSource != "provider":
	case row.UpstreamModel == "audio": // charged as reserved
		if row.Priced || row.CostNano == 0 {
			s.faults.add("call %d: cost %d, priced %v: %+v", n, row.CostNano, row.Priced, row)
		}
	case row.Provider == "metered":
		want, known = u.nano(), true
		if row.PromptTokens != u.Prompt || row.CompletionTokens != u.Completion || row.CachedTokens != u.Cached || row.ReasoningTokens != u.Reasoning {
			s.faults.add("call %d: the provider said %+v, the record says %+v", n, u, row)
		}
	case row.Provider == "billed":
		want, known = u.reported(), true
	case row.Provider == "dear": // a hundredth of a thousandth of a USD a token
		want, known = 10_000*(row.PromptTokens+row.CompletionTokens), true
	}
	if known && (row.CostNano != want || !row.Priced) {
		s.faults.add("call %d: cost %d, priced %v, want %d: %+v", n, row.CostNano, row.Priced, want, row)
	}
}

// subjects are all that the records name, sorted.
func (r *soakRows) subjects() []string { return slices.Sorted(maps.Keys(r.sums)) }
