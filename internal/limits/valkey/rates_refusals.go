package valkey

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// maxRefusals bounds the refusals that are remembered. Of others the engine is asked each time.
const maxRefusals = 10_000

// refusals remembers which request rates are used up: nothing is given back to them, so a refusal
// holds until it ends.
type refusals struct {
	some atomic.Bool // whether there are any
	mu   sync.Mutex
	all  map[ratedSubject]refused
}

type refused struct{ ends, resets time.Time }

func (r *refusals) remember(refusal *limits.RateRefusal, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = make(map[ratedSubject]refused)
	}
	if len(r.all) >= maxRefusals {
		for rate, was := range r.all {
			if !was.ends.After(now) {
				delete(r.all, rate)
			}
		}
		if len(r.all) >= maxRefusals {
			return
		}
	}
	r.all[ratedSubject{refusal.Subject, refusal.Rate}] = refused{now.Add(refusal.RetryAfter), now.Add(refusal.Reset)}
	r.some.Store(true)
}

// find returns the refusal with the longest wait.
func (r *refusals) find(subjects []limits.Subject, now time.Time) (found *limits.RateRefusal) {
	if !r.some.Load() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range subjects {
		for _, rate := range subjects[i].Rates {
			is := ratedSubject{subjects[i].Name, rate}
			was, ok := r.all[is]
			if !ok {
				continue
			}
			wait := was.ends.Sub(now)
			if wait <= 0 {
				delete(r.all, is)
				r.some.Store(len(r.all) > 0)
				continue
			}
			if found == nil || wait > found.RetryAfter {
				found = &limits.RateRefusal{
					Reading:    limits.Reading{Subject: is.subject, Rate: rate, Reset: was.resets.Sub(now)},
					RetryAfter: wait,
				}
			}
		}
	}
	return found
}
