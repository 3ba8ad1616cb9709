package catalog

import (
	"math"
	"math/bits"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
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

// Rates are the prices of each kind of token, and of other units.
type Rates struct {
	Prompt     Quote
	Completion Quote
	CacheRead  Quote // unknown: Prompt
	CacheWrite Quote // unknown: CacheHour, then Prompt
	CacheHour  Quote // writes that are kept for an hour or longer, the highest of several; unknown: CacheWrite
	Reasoning  Quote // unknown: Completion
	Units      UnitRates
	Request    Quote // a fee for the call, beside all else; unknown: none
}

// Tier holds the rates of calls with long prompts.
type Tier struct {
	From int64 // the first number of prompt tokens of the tier; it applies to the whole call
	Rates
}

// Price is what a model costs. Tiers ascend by From. A kind that a tier leaves out has the tier's
// Prompt or Completion rate. Only these two (and units) fall back to the base rates, so that a gap
// in a price list overcharges rather than undercharges.
//
// Tokens and units that are no tokens are two ways to bill one call: the dearer of the two counts,
// never the sum. Price lists state both for models of pictures and sound.
//
// Pictures are the prices of a picture that differ by what a request says of it. The rate in Units is
// then the highest.
type Price struct {
	Rates
	Tiers    []Tier
	Pictures []PictureRate
}

// Tokens is the usage of one call, counted as OpenAI does: Prompt includes Cached, CacheWrite and
// units that are tokens of it, and Completion includes Reasoning and its units.
type Tokens struct {
	Prompt, Completion            int64
	Cached, CacheWrite, Reasoning int64
	Units                         units.Counts

	// CacheHour is how much of CacheWrite is kept for an hour or longer. If usage does not say so,
	// KeptLong says it of the rest.
	CacheHour int64
	KeptLong  bool
}

// CostNano returns the price of a call in nano-USD, rounded up once. ok is false if it is unknown:
// no price, no rate for a kind that was used, a negative count, or a sum beyond int64. If the parts
// exceed the whole, as with providers that count them separately, each part is charged in full. A
// unit that is no token may have no rate if tokens were counted. Tokens of sound or of pictures that were
// cached, or of thoughts, have the rate of their unit.
func (p *Price) CostNano(t Tokens) (nano int64, ok bool) {
	if p == nil {
		return 0, false
	}
	r := p.at(t.Prompt)
	t.countOnce()
	var sum, other sum128
	prompt, completion := rest(t.Prompt, t.Cached, t.CacheWrite), rest(t.Completion, t.Reasoning)
	for i, n := range t.Units {
		switch u := &unitTable[i]; {
		case u.part == ofPrompt:
			prompt, ok = rest(prompt, n), sum.add(n, r.unit(i), u.each)
		case u.part == ofCompletion:
			completion, ok = rest(completion, n), sum.add(n, r.unit(i), u.each)
		default:
			ok = other.add(n, r.Units[i], u.each) || n > 0 && t.Prompt+t.Completion > 0 && !r.Units[i].Known
		}
		if !ok {
			return 0, false
		}
	}
	for _, line := range [...]struct {
		count int64
		quote Quote
	}{
		{prompt, r.Prompt},
		{t.Cached, r.CacheRead.or(r.Prompt)},
		{rest(t.CacheWrite, t.CacheHour), r.writing(t.KeptLong)},
		{t.CacheHour, r.writing(true)},
		{completion, r.Completion},
		{t.Reasoning, r.Reasoning.or(r.Completion)},
	} {
		if !sum.add(line.count, line.quote, 1) {
			return 0, false
		}
	}
	return sum.max(other).with(r.Request).perMillionUp()
}

// countOnce takes tokens that are units, which are all within the prompt or the completion, out of other
// parts where they must be in both.
func (t *Tokens) countOnce() {
	var prompt, completion int64 // units
	for i, n := range t.Units {
		switch unitTable[i].part {
		case ofPrompt:
			prompt += n
		case ofCompletion:
			completion += n
		}
	}
	if twice := inBoth(t.Prompt, t.Cached+t.CacheWrite, prompt); twice > 0 && min(t.Cached, t.CacheWrite) >= 0 {
		read := min(twice, t.Cached)
		t.Cached, t.CacheWrite = t.Cached-read, t.CacheWrite-(twice-read)
		t.CacheHour = min(t.CacheHour, t.CacheWrite)
	}
	t.Reasoning -= inBoth(t.Completion, t.Reasoning, completion)
}

// inBoth returns how much of two parts of a whole is in both at least, 0 if a part is not within the whole.
func inBoth(whole, a, b int64) int64 {
	if min(a, b) < 0 || max(a, b) > whole {
		return 0
	}
	return max(a-(whole-b), 0)
}

// Most is an upper bound of what a call can use.
type Most struct {
	Prompt, Completion int64 // tokens
	// Units has the most of each. Of those that are tokens it says, with any number above zero, that
	// some of the prompt or of the completion may be such tokens.
	Units units.Counts
}

// MostNano returns an upper bound of the cost of a call within that use, for all tiers and kinds of
// tokens: CostNano of any such usage is not higher. ok is false if it is unknown.
func (p *Price) MostNano(m Most) (nano int64, ok bool) {
	if p == nil {
		return 0, false
	}
	most, ok := p.Rates.most(m)
	for i := 0; ok && i < len(p.Tiers) && p.Tiers[i].From <= m.Prompt; i++ {
		var n int64
		n, ok = p.at(p.Tiers[i].From).most(m)
		most = max(most, n)
	}
	return most, ok
}

// most is MostNano at these rates.
func (r Rates) most(m Most) (nano int64, ok bool) {
	in := []Quote{r.Prompt, r.CacheRead.or(r.Prompt), r.writing(false), r.writing(true)}
	out := []Quote{r.Completion, r.Reasoning.or(r.Completion)}
	var sum, other sum128
	for i, n := range m.Units {
		switch q, u := r.unit(i), &unitTable[i]; {
		case u.part == ofPrompt && (n > 0 || u.plain):
			in = append(in, q)
		case u.part == ofCompletion && (n > 0 || u.plain):
			out = append(out, q)
		case u.part == ofNeither && !other.add(n, q, u.each) && (q.Known || n < 0 || m.Prompt+m.Completion == 0):
			return 0, false
		}
	}
	for _, line := range [...]struct {
		count  int64
		quotes []Quote
	}{{m.Prompt, in}, {m.Completion, out}} {
		worst := Quoted(0)
		for _, q := range line.quotes {
			if worst = dearest(worst, q); !q.Known || q.Rate < 0 {
				worst = Quote{}
				break
			}
		}
		if !sum.add(line.count, worst, 1) {
			return 0, false
		}
	}
	return sum.max(other).with(r.Request).perMillionUp()
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
		r.Units, r.Request = r.Units.or(p.Units), r.Request.or(p.Request)
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

// sum128 adds products of 63-bit numbers. A sum of a few of them cannot overflow 128 bits.
type sum128 struct{ hi, lo uint64 }

// add adds what a number of units costs at a rate for each so many, rounded up. It reports whether the
// cost is known.
func (s *sum128) add(count int64, q Quote, each uint64) bool {
	switch {
	case count == 0:
		return true
	case count < 0 || !q.Known || q.Rate < 0:
		return false
	}
	hi, lo := bits.Mul64(uint64(count), uint64(q.Rate))
	if each > 1 {
		var carry, remainder uint64
		lo, carry = bits.Add64(lo, each-1, 0)
		hi, remainder = (hi+carry)/each, (hi+carry)%each
		lo, _ = bits.Div64(remainder, lo, each)
	}
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, _ = bits.Add64(s.hi, hi, carry)
	return true
}

func (s sum128) max(other sum128) sum128 {
	if other.hi > s.hi || other.hi == s.hi && other.lo > s.lo {
		return other
	}
	return s
}

// with adds a fee, if there is one.
func (s sum128) with(fee Quote) sum128 {
	s.add(1, fee, 1)
	return s
}

func (s sum128) perMillionUp() (int64, bool) {
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
