package limits

import (
	"context"
	"time"
)

// RateUse is what was counted against one rate.
type RateUse struct {
	Rate  Rate
	Used  int64         // in the window; more than the limit if calls used more tokens than was estimated
	Reset time.Duration // until everything counted has left the window; 0 for nothing
}

// Read never fails: see Rates. A subject that does not fit into the table shares its windows with
// others; its rates are read as unused.
func (r *LocalRates) Read(_ context.Context, subjects []Subject) ([]RateUse, error) {
	var uses []RateUse
	for i := range subjects {
		uses = r.read(uses, &subjects[i])
	}
	return uses, nil
}

func (r *LocalRates) read(uses []RateUse, s *Subject) []RateUse {
	first := len(uses)
	for _, rate := range s.Rates {
		uses = append(uses, RateUse{Rate: rate})
	}
	counted := r.subjects.find(s.Name)
	if counted == nil || len(s.Rates) == 0 {
		return uses
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	now := r.nanos()
	for i := first; i < len(uses); i++ {
		for _, w := range counted.windows {
			if w.unit == uses[i].Rate.Unit && w.length == uses[i].Rate.Window {
				w.advance(now)
				uses[i].Used, uses[i].Reset = w.total, w.reset(now)
			}
		}
	}
	return uses
}
