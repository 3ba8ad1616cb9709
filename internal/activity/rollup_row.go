package activity

import (
	"encoding/binary"
	"math"
	"time"
)

// Sums are the counts of calls. CostNano stops at the largest int64.
type Sums struct {
	// Requests counts every record, Errors those with a code, Unpriced those that used something
	// whose price is unknown.
	Requests, Errors, Unpriced                                    int64
	PromptTokens, CompletionTokens, ReasoningTokens, CachedTokens int64
	CostNano                                                      int64
}

func (s *Sums) add(t *Sums) {
	s.Requests += t.Requests
	s.Errors += t.Errors
	s.Unpriced += t.Unpriced
	s.PromptTokens += t.PromptTokens
	s.CompletionTokens += t.CompletionTokens
	s.ReasoningTokens += t.ReasoningTokens
	s.CachedTokens += t.CachedTokens
	if t.CostNano > 0 && s.CostNano > math.MaxInt64-t.CostNano {
		s.CostNano = math.MaxInt64
	} else {
		s.CostNano += t.CostNano
	}
}

// negative returns what takes s off other sums.
func (s Sums) negative() Sums {
	return Sums{
		Requests: -s.Requests, Errors: -s.Errors, Unpriced: -s.Unpriced, PromptTokens: -s.PromptTokens,
		CompletionTokens: -s.CompletionTokens, ReasoningTokens: -s.ReasoningTokens, CachedTokens: -s.CachedTokens, CostNano: -s.CostNano,
	}
}

// rollupRow is what the roll-up needs of one row. Its texts are parts of the row.
type rollupRow struct {
	key, model, provider, code []byte
	unnamed                    bool // the model's name was left out
	sums                       Sums
	hists                      [numHists]time.Duration // negative: not counted
}

// read sets r from the data of a row, without copying it. The order is that of Record.encode.
func (r *rollupRow) read(data []byte) error {
	if len(data) < 2 || data[0] != dataVersion {
		return errDamaged
	}
	flags := data[1]
	in := reader{rest: data[2:]}
	in.number() // Status
	in.number() // Attempts
	latency, first := time.Duration(in.number()), time.Duration(in.number())
	s := Sums{Requests: 1}
	for _, n := range [...]*int64{&s.PromptTokens, &s.CompletionTokens, &s.ReasoningTokens, &s.CachedTokens, &s.CostNano} {
		*n = in.number()
	}
	r.key, r.model, r.provider = in.bytes(), in.bytes(), in.bytes()
	for range 7 { // ID to UpstreamModel
		in.bytes()
	}
	r.code = in.bytes()
	in.bytes() // FinishReason
	in.bytes() // NativeFinishReason
	source := in.bytes()
	if len(r.code) > 0 {
		s.Errors = 1
	}
	if flags&flagPriced == 0 && len(source) > 0 && string(source) != UsageNone {
		s.Unpriced = 1
	}
	r.sums = s
	// Callers invent names of models. One that was routed to a provider exists.
	if r.unnamed = len(r.provider) == 0 && len(r.model) > 0; r.unnamed {
		r.model = nil
	}
	r.hists = [numHists]time.Duration{-1, -1, -1, -1}
	if len(r.provider) > 0 {
		r.hists[histDuration] = latency
		if first > 0 {
			r.hists[histFirstToken] = first
			if s.CompletionTokens > 1 && latency > first {
				r.hists[histPerToken] = (latency - first) / time.Duration(s.CompletionTokens-1)
			}
		}
		if overhead := in.overhead(flags); overhead > 0 {
			r.hists[histOverhead] = overhead
		}
	}
	if in.bad {
		return errDamaged
	}
	return nil
}

// overhead skips what follows UsageSource and returns Overhead, or 0 if the row has none.
func (in *reader) overhead(flags byte) time.Duration {
	if flags&flagPhases == 0 {
		return 0
	}
	if flags&flagRawHash == 0 {
		in.bytes()
	} else {
		in.rest = in.rest[min(rawHash, len(in.rest)):]
	}
	if flags&flagWorkstation != 0 {
		in.number()
		in.number()
		in.bytes()
		in.bytes()
	}
	if flags&flagCap != 0 {
		in.number()
	}
	if flags&flagAttempted != 0 {
		for range min(in.number(), maxAttempted) {
			in.number()
			in.number()
			in.bytes()
			in.bytes()
		}
	}
	in.number() // Queued
	return time.Duration(in.number())
}

// bytes is string without a copy.
func (in *reader) bytes() []byte {
	n, size := binary.Uvarint(in.rest)
	if size <= 0 || n > uint64(len(in.rest)-size) {
		in.bad = true
		return nil
	}
	text := in.rest[size : size+int(n)]
	in.rest = in.rest[size+int(n):]
	return text
}

// The data of a row of the roll-up: one byte of version, the sums and the number of calls whose
// model's name was left out as varints, then the histograms.
const rollupVersion = 1

// appendSums appends all of a row of the roll-up but its histograms. Errors follow from the code.
func (s *Sums) appendSums(b []byte, unnamed int64) []byte {
	b = append(b, rollupVersion)
	for _, n := range [...]int64{
		s.Requests, s.Unpriced, s.PromptTokens, s.CompletionTokens, s.ReasoningTokens, s.CachedTokens, s.CostNano, unnamed,
	} {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// readSums reads what appendSums wrote, and returns the histograms that follow. Failed reports
// whether the row is of calls with a code.
func (s *Sums) readSums(data []byte, failed bool) (unnamed int64, hists []byte, err error) {
	if len(data) == 0 || data[0] != rollupVersion {
		return 0, nil, errDamaged
	}
	in := reader{rest: data[1:]}
	for _, n := range [...]*int64{
		&s.Requests, &s.Unpriced, &s.PromptTokens, &s.CompletionTokens, &s.ReasoningTokens, &s.CachedTokens, &s.CostNano, &unnamed,
	} {
		*n = in.number()
	}
	if s.Errors = 0; failed {
		s.Errors = s.Requests
	}
	if in.bad {
		return 0, nil, errDamaged
	}
	return unnamed, in.rest, nil
}
