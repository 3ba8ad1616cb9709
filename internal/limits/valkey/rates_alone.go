package valkey

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const (
	// mostMisses is how many messages in a row may get no answer until none is sent.
	mostMisses = 3
	// tryInterval is the time between two tries to reach an engine that does not answer.
	tryInterval = time.Second
)

var errNotStated = errors.New("the engine does not know which slots are used")

// breaker keeps calls from waiting for an engine that does not answer.
type breaker struct {
	logger *zap.Logger
	open   atomic.Bool
	misses atomic.Int32

	mu    sync.Mutex
	tried time.Time
	since time.Time
}

// note counts an outcome, and reports whether it opened the breaker.
func (b *breaker) note(err error) bool {
	if err == nil {
		if b.misses.Load() > 0 {
			b.misses.Store(0)
		}
		return false
	}
	if b.misses.Add(1) < mostMisses || !b.open.CompareAndSwap(false, true) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since = time.Now()
	b.tried = b.since
	b.logger.Warn("the engine of the cluster does not answer: rates and calls at once are limited to this gateway's part", zap.Error(err))
	return true
}

// due reports whether the engine should be tried.
func (b *breaker) due(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.tried) < tryInterval {
		return false
	}
	b.tried = now
	return true
}

// close lets messages be sent again. So many corrections were lost meanwhile.
func (b *breaker) close(lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.misses.Store(0)
	b.open.Store(false)
	b.logger.Info("the engine of the cluster answers again: rates and calls at once are shared",
		zap.Duration("after", time.Since(b.since)), zap.Int("corrections_lost", lost))
}

// part returns the subjects with this gateway's part of their rates.
func (a *Rates) part(subjects []limits.Subject) []limits.Subject {
	nodes := int64(a.node.Count())
	parts := slices.Clone(subjects)
	for i := range parts {
		parts[i].Rates = slices.Clone(parts[i].Rates)
		for j := range parts[i].Rates {
			rate := &parts[i].Rates[j]
			rate.Limit = (rate.Limit-1)/nodes + 1
		}
	}
	return parts
}

// whole names the rate as it is configured.
func whole(r limits.Reading, subjects []limits.Subject) limits.Reading {
	for i := range subjects {
		for _, rate := range subjects[i].Rates {
			if subjects[i].Name == r.Subject && rate.Unit == r.Rate.Unit && rate.Window == r.Rate.Window {
				r.Rate = rate
			}
		}
	}
	return r
}

// wholeRefusal is whole of a refusal. A call that needs more than the part may fit when the engine
// answers again.
func wholeRefusal(r *limits.RateRefusal, subjects []limits.Subject) *limits.RateRefusal {
	if r == nil {
		return nil
	}
	r.Reading = whole(r.Reading, subjects)
	if r.Never {
		r.Never, r.RetryAfter = false, tryInterval
	}
	return r
}

// guess answers statements with this gateway's part of the slots.
func (a *Rates) guess(wants []want) []granted {
	nodes := a.node.Count()
	shares := make([]granted, len(wants))
	for i, w := range wants {
		slots := min(w.Slots, (w.Limit+nodes-1)/nodes)
		shares[i] = granted{Subject: w.Subject, Number: w.Number, Slots: slots, Held: max(slots, w.Held), Guess: true}
	}
	return shares
}
