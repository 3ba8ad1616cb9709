package limits

import "time"

// RateUse is what was counted against one rate.
type RateUse struct {
	Rate  Rate
	Used  int64         // in the window; more than the limit if calls used more tokens than was estimated
	Reset time.Duration // until everything counted has left the window; 0 for nothing
}

// Read returns the use of each rate of the subject, in their order, and counts nothing. A subject
// that does not fit into the table shares its windows with others; its rates are read as unused.
func (r *Rates) Read(s Subject) []RateUse {
	uses := make([]RateUse, len(s.Rates))
	for i := range uses {
		uses[i].Rate = s.Rates[i]
	}
	counted := r.subjects.find(s.Name)
	if counted == nil || len(uses) == 0 {
		return uses
	}
	counted.mu.Lock()
	defer counted.mu.Unlock()
	now := r.nanos()
	for i := range uses {
		for _, w := range counted.windows {
			if w.unit == uses[i].Rate.Unit && w.length == uses[i].Rate.Window {
				w.advance(now)
				uses[i].Used, uses[i].Reset = w.total, w.reset(now)
			}
		}
	}
	return uses
}
