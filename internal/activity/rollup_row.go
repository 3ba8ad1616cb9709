package activity

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// Sums are the counts of calls. CostNano stops at the largest int64.
type Sums struct {
	// Requests counts every record, Errors those with a code, Unpriced those that used something
	// whose price is unknown.
	Requests, Errors, Unpriced                                    int64
	PromptTokens, CompletionTokens, ReasoningTokens, CachedTokens int64
	CostNano                                                      int64
	Units                                                         units.Counts
}

func (s *Sums) Add(t *Sums) {
	s.Requests += t.Requests
	s.Errors += t.Errors
	s.Unpriced += t.Unpriced
	s.PromptTokens += t.PromptTokens
	s.CompletionTokens += t.CompletionTokens
	s.ReasoningTokens += t.ReasoningTokens
	s.CachedTokens += t.CachedTokens
	for u, n := range t.Units {
		s.Units[u] += n
	}
	if t.CostNano > 0 && s.CostNano > math.MaxInt64-t.CostNano {
		s.CostNano = math.MaxInt64
	} else {
		s.CostNano += t.CostNano
	}
}

// negative returns what takes s off other sums.
func (s Sums) negative() Sums {
	for u := range s.Units {
		s.Units[u] = -s.Units[u]
	}
	return Sums{
		Requests: -s.Requests, Errors: -s.Errors, Unpriced: -s.Unpriced, PromptTokens: -s.PromptTokens,
		CompletionTokens: -s.CompletionTokens, ReasoningTokens: -s.ReasoningTokens, CachedTokens: -s.CachedTokens, CostNano: -s.CostNano,
		Units: s.Units,
	}
}

// SumsOf returns what a record adds to sums.
func SumsOf(r *Record) Sums {
	s := Sums{
		Requests: 1, PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens,
		ReasoningTokens: r.ReasoningTokens, CachedTokens: r.CachedTokens, CostNano: r.CostNano, Units: r.Units,
	}
	if r.Code != "" {
		s.Errors = 1
	}
	if !r.Priced && r.UsageSource != "" && r.UsageSource != UsageNone {
		s.Unpriced = 1
	}
	return s
}

// unnamed reports whether the roll-up leaves out the model's name. Callers invent names of models;
// one that was routed to a provider exists.
func (r *Record) unnamed() bool { return r.Provider == "" && r.Model != "" }

// summedModel is the model by which the roll-up sums the record.
func (r *Record) summedModel() string {
	if r.unnamed() {
		return ""
	}
	return r.Model
}

// durations are the durations of the histograms. A negative one is not counted.
func (r *Record) durations() (all [numHists]time.Duration) {
	all = [numHists]time.Duration{-1, -1, -1, -1}
	if r.Provider == "" {
		return all
	}
	all[histDuration] = r.Latency
	if r.FirstToken > 0 {
		all[histFirstToken] = r.FirstToken
		if r.CompletionTokens > 1 && r.Latency > r.FirstToken {
			all[histPerToken] = (r.Latency - r.FirstToken) / time.Duration(r.CompletionTokens-1)
		}
	}
	if r.Overhead > 0 {
		all[histOverhead] = r.Overhead
	}
	return all
}

// The data of a row of the roll-up: one byte of version, then as varints the sums, the units if the
// version has them, and the number of calls whose model's name was left out, then the histograms.
const rollupVersion = 1

// appendSums appends all of a row of the roll-up but its histograms. Errors follow from the code.
func (s *Sums) appendSums(b []byte, unnamed int64) []byte {
	start := len(b)
	b = append(b, rollupVersion)
	for _, n := range [...]int64{
		s.Requests, s.Unpriced, s.PromptTokens, s.CompletionTokens, s.ReasoningTokens, s.CachedTokens, s.CostNano,
	} {
		b = binary.AppendVarint(b, n)
	}
	return binary.AppendVarint(appendUnits(b, start, &s.Units), unnamed)
}

// Read reads what appendSums wrote, and returns the histograms that follow. Failed reports
// whether the row is of calls with a code.
func (s *Sums) Read(data []byte, failed bool) (unnamed int64, hists []byte, err error) {
	if len(data) == 0 || data[0] != rollupVersion && data[0] != rollupVersion+withUnits {
		return 0, nil, ErrDamaged
	}
	in := reader{rest: data[1:]}
	for _, n := range [...]*int64{
		&s.Requests, &s.Unpriced, &s.PromptTokens, &s.CompletionTokens, &s.ReasoningTokens, &s.CachedTokens, &s.CostNano,
	} {
		*n = in.number()
	}
	in.units(&s.Units, data[0] > rollupVersion)
	unnamed = in.number()
	if s.Errors = 0; failed {
		s.Errors = s.Requests
	}
	if in.bad {
		return 0, nil, ErrDamaged
	}
	return unnamed, in.rest, nil
}
