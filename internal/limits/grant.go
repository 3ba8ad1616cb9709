package limits

import "sync"

// Grant is what Rates.Tokens counted for a call.
type Grant struct {
	correct func(delta int64)
	taken   int64

	once sync.Once
}

// NewGrant returns the grant of n tokens that were counted. Correct is called once, with the
// difference to the real use, if there is one. It must not block.
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
		if delta := max(actual, 0) - g.taken; delta != 0 {
			g.correct(delta)
		}
	})
}
