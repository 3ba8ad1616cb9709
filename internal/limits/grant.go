package limits

import "sync"

// Grant is what Rates.Tokens counted for a call.
type Grant struct {
	rates *Rates
	taken int64
	slots []grantSlot

	once sync.Once
}

type grantSlot struct {
	subject *rateSubject
	window  *window
	slot    int64
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
