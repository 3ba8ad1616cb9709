package limits

import "sync"

// Grant is what Rates.Tokens counted for a call.
type Grant struct {
	rates   *LocalRates
	correct func(delta int64) // of a grant of other rates
	taken   int64
	slots   []grantSlot

	once sync.Once
}

type grantSlot struct {
	subject *rateSubject
	window  *window
	slot    int64
}

// NewGrant returns the grant of n tokens that other Rates than the local ones have counted. Correct
// is called once, with the difference to the real use, if there is one. It must not block.
func NewGrant(n int64, correct func(delta int64)) *Grant {
	return &Grant{taken: max(n, 0), correct: correct}
}

// Adjust replaces the upper bound with the real use. Unused tokens are given back to the time at
// which they were taken. Additional tokens count from now on and may exceed the limit, so that
// later calls are refused. Only the first call has an effect. A nil grant has nothing to adjust.
func (g *Grant) Adjust(actual int64) {
	if g == nil {
		return
	}
	g.once.Do(func() {
		delta := max(actual, 0) - g.taken
		if delta == 0 {
			return
		}
		if g.correct != nil {
			g.correct(delta)
			return
		}
		var writes []*rateRows
		now := g.rates.nanos()
		for _, l := range g.slots {
			l.subject.mu.Lock()
			l.window.advance(now)
			l.window.correct(l.slot, delta)
			writes = g.rates.toWrite(writes, l.subject, l.window)
			l.subject.mu.Unlock()
		}
		g.rates.write(writes)
	})
}
