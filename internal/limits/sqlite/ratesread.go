package sqlite

import (
	"context"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Read never fails: see Rates. A subject that does not fit into the table shares its windows with
// others; its rates are read as unused.
func (r *Rates) Read(_ context.Context, subjects []limits.Subject) ([]limits.RateUse, error) {
	var uses []limits.RateUse
	for i := range subjects {
		uses = r.read(uses, &subjects[i])
	}
	return uses, nil
}

func (r *Rates) read(uses []limits.RateUse, s *limits.Subject) []limits.RateUse {
	first := len(uses)
	for _, rate := range s.Rates {
		uses = append(uses, limits.RateUse{Rate: rate})
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
			if w.unit == uses[i].Rate.Unit && w.used.Length() == uses[i].Rate.Window {
				uses[i].Used, uses[i].Reset = w.used.Used(now)
			}
		}
	}
	return uses
}
