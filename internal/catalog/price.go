package catalog

import (
	"math"
	"math/bits"
)

// Quote is a rate that may be unknown. The zero value is unknown, so that a missing price is never
// free.
type Quote struct {
	Rate  Rate
	Known bool
}

// Quoted returns a known quote.
func Quoted(r Rate) Quote { return Quote{Rate: r, Known: true} }

// or returns the quote, or the other one if it is unknown.
func (q Quote) or(other Quote) Quote {
	if q.Known {
		return q
	}
	return other
}

// dearest returns the known quote with the higher rate.
func dearest(a, b Quote) Quote {
	if !a.Known || b.Known && b.Rate > a.Rate {
		return b
	}
	return a
}

// Rates are the prices of each kind of token.
type Rates struct {
	Prompt      Quote
	Completion  Quote
	CacheRead   Quote // unknown: Prompt
	CacheWrite  Quote // unknown: CacheHour, then Prompt
	CacheHour   Quote // writes that are kept for an hour or longer, the highest of several; unknown: CacheWrite
	Reasoning   Quote // unknown: Completion
	AudioInput  Quote // unknown: cannot be priced
	AudioOutput Quote // unknown: cannot be priced
	Query       Quote // of a million search units; unknown: cannot be priced
}

// Tier holds the rates of calls with long prompts.
type Tier struct {
	From int64 // the first number of prompt tokens of the tier; it applies to the whole call
	Rates
}

// Price is what a model costs. Tiers ascend by From. A kind that a tier leaves out has the tier's
// Prompt or Completion rate. Only these two (and audio) fall back to the base rates, so that a gap
// in a price list overcharges rather than undercharges.
type Price struct {
	Rates
	Tiers []Tier
}

// Tokens is the usage of one call, counted as OpenAI does: Prompt includes Cached, CacheWrite and
// AudioInput, and Completion includes Reasoning and AudioOutput.
type Tokens struct {
	Prompt, Completion            int64
	Cached, CacheWrite, Reasoning int64
	AudioInput, AudioOutput       int64
	Queries                       int64 // search units, which are no tokens

	// CacheHour is how much of CacheWrite is kept for an hour or longer. If usage does not say so,
	// KeptLong says it of the rest.
	CacheHour int64
	KeptLong  bool
}

// CostNano returns the price of a call in nano-USD, rounded up once. ok is false if it is unknown:
// no price, no rate for a kind that was used, a negative count, or a sum beyond int64. If the parts
// exceed the whole, as with providers that count them separately, each part is charged in full.
func (p *Price) CostNano(t Tokens) (nano int64, ok bool) {
	if p == nil {
		return 0, false
	}
	r := p.at(t.Prompt)
	var sum sum128
	for _, line := range [...]struct {
		count int64
		quote Quote
	}{
		{rest(t.Prompt, t.Cached, t.CacheWrite, t.AudioInput), r.Prompt},
		{t.Cached, r.CacheRead.or(r.Prompt)},
		{rest(t.CacheWrite, t.CacheHour), r.writing(t.KeptLong)},
		{t.CacheHour, r.writing(true)},
		{t.AudioInput, r.AudioInput},
		{rest(t.Completion, t.Reasoning, t.AudioOutput), r.Completion},
		{t.Reasoning, r.Reasoning.or(r.Completion)},
		{t.AudioOutput, r.AudioOutput},
		{t.Queries, r.Query},
	} {
		if line.count == 0 {
			continue
		}
		if line.count < 0 || !line.quote.Known || line.quote.Rate < 0 {
			return 0, false
		}
		sum.addProduct(uint64(line.count), uint64(line.quote.Rate))
	}
	return sum.perMillionUp()
}

// Most is an upper bound of what a call can use.
type Most struct {
	Prompt, Completion      int64 // tokens
	Queries                 int64
	AudioInput, AudioOutput bool // whether some of the tokens may be audio
}

// MostNano returns an upper bound of the cost of a call within that use, for all tiers and kinds of
// tokens: CostNano of any such usage is not higher. ok is false if it is unknown.
func (p *Price) MostNano(m Most) (nano int64, ok bool) {
	if p == nil || m.Prompt < 0 || m.Completion < 0 || m.Queries < 0 {
		return 0, false
	}
	worst := func(r Rates) (int64, bool) {
		in := []Quote{r.Prompt, r.CacheRead.or(r.Prompt), r.writing(false), r.writing(true)}
		out := []Quote{r.Completion, r.Reasoning.or(r.Completion)}
		if m.AudioInput {
			in = append(in, r.AudioInput)
		}
		if m.AudioOutput {
			out = append(out, r.AudioOutput)
		}
		var sum sum128
		for _, line := range [...]struct {
			count  int64
			quotes []Quote
		}{{m.Prompt, in}, {m.Completion, out}, {m.Queries, []Quote{r.Query}}} {
			rate := Rate(0)
			for _, q := range line.quotes {
				if line.count > 0 && (!q.Known || q.Rate < 0) {
					return 0, false
				}
				rate = max(rate, q.Rate)
			}
			sum.addProduct(uint64(line.count), uint64(rate))
		}
		return sum.perMillionUp()
	}
	most, ok := worst(p.Rates)
	for i := 0; ok && i < len(p.Tiers) && p.Tiers[i].From <= m.Prompt; i++ {
		var n int64
		n, ok = worst(p.at(p.Tiers[i].From))
		most = max(most, n)
	}
	return most, ok
}

// at returns the rates for a call with that many prompt tokens.
func (p *Price) at(prompt int64) Rates {
	r := p.Rates
	for _, tier := range p.Tiers {
		if prompt < tier.From {
			break
		}
		r = tier.Rates
		r.Prompt, r.Completion = r.Prompt.or(p.Prompt), r.Completion.or(p.Completion)
		r.AudioInput, r.AudioOutput = r.AudioInput.or(p.AudioInput), r.AudioOutput.or(p.AudioOutput)
		r.Query = r.Query.or(p.Query)
	}
	return r
}

// writing is the rate of cache writes.
func (r *Rates) writing(keptLong bool) Quote {
	if keptLong {
		return r.CacheHour.or(r.CacheWrite).or(r.Prompt)
	}
	return r.CacheWrite.or(r.CacheHour).or(r.Prompt)
}

// rest returns whole without its parts, at least zero unless a count is negative.
func rest(whole int64, parts ...int64) int64 {
	if whole < 0 {
		return whole
	}
	for _, part := range parts {
		if part > whole {
			return 0
		}
		whole -= max(part, 0)
	}
	return whole
}

// sum128 adds products of 63-bit numbers. CostNano adds nine of them, which cannot overflow 128
// bits.
type sum128 struct{ hi, lo uint64 }

func (s *sum128) addProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry)
}

func (s *sum128) perMillionUp() (int64, bool) {
	const million = 1_000_000
	if s.hi >= million {
		return 0, false
	}
	quotient, remainder := bits.Div64(s.hi, s.lo, million)
	if quotient >= math.MaxInt64 {
		return 0, false
	}
	if remainder > 0 {
		quotient++
	}
	return int64(quotient), true
}
