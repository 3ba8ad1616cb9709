package limits

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// maxRateSubjects bounds memory to about 50 MiB at two rates each: names of models may come from
// clients. Names beyond it share windows. Sharing may refuse too early, and never lets too much
// through.
const maxRateSubjects = 32_768

// LocalRates are the Rates of one gateway. Each subject has its own lock.
type LocalRates struct {
	now   func() time.Time
	start time.Time
	store sink // nil: memory only

	subjects table[rateSubject]
	overflow [MaxSubjects]*rateSubject // shared by names that do not fit into the table, by their index in the call
	swept    [shardCount]atomic.Int64  // when a full shard was last swept
}

type rateSubject struct {
	node
	windows []*window // guarded by mu, like gone
	gone    bool      // removed from the table by a sweep
}

// NewLocalRates returns rates that read the time from now. Windows of an hour and longer are kept in st,
// which must have been opened with RateSchema, and are read back. A kill -9 loses what was counted
// within the store's last commit interval. If st is nil, all windows are in memory.
//
// Time within a process is monotonic: setting the clock has no effect. After a restart with a clock
// that was set back, counts dated in the future count as used now.
func NewLocalRates(ctx context.Context, st *store.Store, now func() time.Time) (*LocalRates, error) {
	r := &LocalRates{now: now, start: now()}
	r.subjects.init(maxRateSubjects)
	for i := range r.overflow {
		r.overflow[i] = newRateSubject("\x00" + string(rune('0'+i)))
	}
	if st == nil {
		return r, nil
	}
	r.store = st
	return r, r.load(ctx, st)
}

// nanos returns the time since 1970, monotonic within the process.
func (r *LocalRates) nanos() int64 {
	return max(r.start.UnixNano()+int64(r.now().Sub(r.start)), 0)
}

// Request never fails: see Rates.
func (r *LocalRates) Request(_ context.Context, subjects []Subject) (Reading, *RateRefusal, error) {
	reading, refusal := r.count(Requests, 1, subjects, nil)
	return reading, refusal, nil
}

// Tokens never fails: see Rates.
func (r *LocalRates) Tokens(_ context.Context, n int64, subjects []Subject) (Reading, *Grant, *RateRefusal, error) {
	g := &Grant{rates: r, taken: max(n, 0)}
	reading, refusal := r.count(Tokens, g.taken, subjects, g)
	if refusal != nil {
		return reading, nil, refusal, nil
	}
	return reading, g, nil, nil
}

// count counts n, unless that is refused or n is 0.
func (r *LocalRates) count(unit Unit, n int64, subjects []Subject, g *Grant) (Reading, *RateRefusal) {
	var subjectBuffer [MaxSubjects]*rateSubject
	var nodeBuffer [MaxSubjects]*node
	found, ns := subjectBuffer[:0], nodes(nodeBuffer[:0])
	for i := range subjects {
		var s *rateSubject
		if counts(unit, subjects[i].Rates) {
			s = r.subject(subjects[i].Name, i)
			ns = append(ns, &s.node)
		}
		found = append(found, s)
	}
	if len(ns) == 0 {
		return Reading{}, nil
	}
	ns.lock()
	for _, s := range found {
		if s != nil && s.gone { // swept after the look-up: rare
			ns.unlock()
			return r.count(unit, n, subjects, g)
		}
	}
	now := r.nanos()
	reading, refusal := evaluate(unit, n, now, subjects, found)
	var writes []*rateRows
	if refusal == nil && n > 0 {
		for i, s := range found {
			for _, rate := range subjects[i].Rates {
				if rate.Unit != unit {
					continue
				}
				w := s.window(rate)
				w.add(w.head, n)
				if g != nil {
					g.slots = append(g.slots, grantSlot{s, w, w.head})
				}
				writes = r.toWrite(writes, s, w)
			}
		}
		reading.Remaining = max(reading.Remaining-n, 0)
		reading.Reset = readingReset(reading, now, subjects, found)
	}
	ns.unlock()
	r.write(writes)
	return reading, refusal
}

// evaluate finds the rate with the least remaining, and the refusal if a rate is used up. All nodes
// must be locked.
func evaluate(unit Unit, n, now int64, subjects []Subject, found []*rateSubject) (tightest Reading, refusal *RateRefusal) {
	first := true
	for i, s := range found {
		for _, rate := range subjects[i].Rates {
			if rate.Unit != unit {
				continue
			}
			w := s.window(rate)
			w.advance(now)
			reading := Reading{subjects[i].Name, rate, max(rate.Limit-w.total, 0), 0}
			if first || reading.Remaining < tightest.Remaining {
				first, tightest = false, reading
			}
			wait, never := w.wait(now, n, rate.Limit)
			if wait > 0 || never {
				if refusal == nil || never && !refusal.Never || never == refusal.Never && wait > refusal.RetryAfter {
					reading.Reset = w.reset(now)
					refusal = &RateRefusal{reading, wait, never}
				}
			}
		}
	}
	tightest.Reset = readingReset(tightest, now, subjects, found)
	return tightest, refusal
}

// readingReset returns the reset of the reading's window.
func readingReset(of Reading, now int64, subjects []Subject, found []*rateSubject) time.Duration {
	for i, s := range found {
		if s != nil && subjects[i].Name == of.Subject {
			return s.window(of.Rate).reset(now)
		}
	}
	return 0
}

func counts(unit Unit, rates []Rate) bool {
	for _, rate := range rates {
		if rate.Unit == unit {
			return true
		}
	}
	return false
}

func newRateSubject(name string) *rateSubject { return &rateSubject{node: node{name: name}} }

// window must be called with mu held.
func (s *rateSubject) window(r Rate) *window {
	for _, w := range s.windows {
		if w.unit == r.Unit && w.length == r.Window {
			return w
		}
	}
	w := newWindow(r.Unit, r.Window)
	s.windows = append(s.windows, w)
	return w
}

// subject returns the subject of this name, and creates it if necessary. index is its index in the
// call.
func (r *LocalRates) subject(name string, index int) *rateSubject {
	if len(name) <= MaxName {
		if s := r.subjects.get(name, newRateSubject); s != nil {
			return s
		}
		if r.sweep(name) {
			if s := r.subjects.get(name, newRateSubject); s != nil {
				return s
			}
		}
	}
	return r.overflow[index%MaxSubjects]
}

// sweep removes subjects without a counted use from name's shard, at most once a second.
func (r *LocalRates) sweep(name string) bool {
	now := r.nanos()
	last := &r.swept[r.subjects.index(name)]
	if before := last.Load(); now-before < int64(time.Second) || !last.CompareAndSwap(before, now) {
		return false
	}
	r.subjects.sweep(name, func(s *rateSubject) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, w := range s.windows {
			if w.advance(now); w.total > 0 {
				return false
			}
		}
		s.gone = true
		return true
	})
	return true
}
