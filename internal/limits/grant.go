package limits

import "sync"

// Grant is what Rates.Tokens counted for a call.
type Grant struct {
	rates *Rates
	taken int64
	lines []grantLine

	once sync.Once
}

type grantLine struct {
	subject *rateSubject
	window  *window
	slot    int64
}

// Adjust replaces the upper bound by what the call really used: less is given back to the time when it was taken, more
// counts from now on and may exceed the limit, so that later calls are refused. Only the first call counts; a nil grant
// has nothing to correct.
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
		for _, l := range g.lines {
			l.subject.mu.Lock()
			l.window.advance(now)
			l.window.correct(l.slot, delta)
			writes = g.rates.toWrite(writes, l.subject, l.window)
			l.subject.mu.Unlock()
		}
		g.rates.write(writes)
	})
}
