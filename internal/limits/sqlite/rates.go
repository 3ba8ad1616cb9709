package sqlite

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// maxRateSubjects bounds memory to about 50 MiB at two rates each: names of models may come from
// clients. Names beyond it share windows. Sharing may refuse too early, and never lets too much
// through.
const maxRateSubjects = 32_768

// Rates are the Rates of one gateway. Each subject has its own lock.
type Rates struct {
	now   func() time.Time
	start time.Time
	store sink // nil: memory only

	subjects table[rateSubject]
	overflow [limits.MaxSubjects]*rateSubject // shared by names that do not fit into the table, by their index in the call
	swept    [shardCount]atomic.Int64         // when a full shard was last swept
}

type rateSubject struct {
	node
	windows []*window // guarded by mu, like gone
	gone    bool      // removed from the table by a sweep
}

// NewRates returns rates that read the time from now. Windows of an hour and longer are kept in st,
// which must have been opened with RateSchema, and are read back. A kill -9 loses what was counted
// within the store's last commit interval. If st is nil, all windows are in memory.
//
// Time within a process is monotonic: setting the clock has no effect. After a restart with a clock
// that was set back, counts dated in the future count as used now.
func NewRates(ctx context.Context, st *store.Store, now func() time.Time) (*Rates, error) {
	r := &Rates{now: now, start: now()}
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
func (r *Rates) nanos() int64 {
	return max(r.start.UnixNano()+int64(r.now().Sub(r.start)), 0)
}

// Request never fails: see limits.Rates.
func (r *Rates) Request(_ context.Context, subjects []limits.Subject) (limits.Reading, *limits.RateRefusal, error) {
	reading, refusal := r.count(limits.Requests, 1, subjects, nil)
	return reading, refusal, nil
}

// Tokens never fails: see limits.Rates.
func (r *Rates) Tokens(_ context.Context, n int64, subjects []limits.Subject) (limits.Reading, *limits.Grant, *limits.RateRefusal, error) {
	var counted []countedSlot
	reading, refusal := r.count(limits.Tokens, max(n, 0), subjects, &counted)
	if refusal != nil {
		return reading, nil, refusal, nil
	}
	return reading, limits.NewGrant(n, func(delta int64) { r.correct(counted, delta) }), nil, nil
}

// countedSlot is where a call was counted.
type countedSlot struct {
	subject *rateSubject
	window  *window
	slot    int64
}

// count counts n, unless that is refused or n is 0, and sets counted unless that is nil.
func (r *Rates) count(unit limits.Unit, n int64, subjects []limits.Subject, counted *[]countedSlot) (limits.Reading, *limits.RateRefusal) {
	var subjectBuffer [limits.MaxSubjects]*rateSubject
	var nodeBuffer [limits.MaxSubjects]*node
	found, ns := subjectBuffer[:0], nodes(nodeBuffer[:0])
	for i := range subjects {
		found = append(found, nil)
		if slices.ContainsFunc(subjects[i].Rates, func(rate limits.Rate) bool { return rate.Unit == unit }) {
			found[i] = r.subject(subjects[i].Name, i)
			ns = append(ns, &found[i].node)
		}
	}
	if len(ns) == 0 {
		return limits.Reading{}, nil
	}
	ns.lock()
	var windowBuffer [limits.MaxSubjects]limits.Counted
	var slotBuffer [limits.MaxSubjects]countedSlot
	windows, in := windowBuffer[:0], slotBuffer[:0]
	for i, s := range found {
		if s != nil && s.gone { // swept after the look-up: rare
			ns.unlock()
			return r.count(unit, n, subjects, counted)
		}
		for _, rate := range subjects[i].Rates {
			if rate.Unit == unit {
				w := s.window(rate)
				windows = append(windows, limits.Counted{Subject: subjects[i].Name, Rate: rate, Window: &w.used})
				in = append(in, countedSlot{subject: s, window: w})
			}
		}
	}
	reading, refusal := limits.Count(n, r.nanos(), windows)
	var writes []*rateRows
	if refusal == nil && n > 0 {
		for i := range in {
			in[i].slot = in[i].window.used.Head()
			writes = r.toWrite(writes, in[i])
		}
		if counted != nil {
			*counted = slices.Clone(in)
		}
	}
	ns.unlock()
	r.write(writes)
	return reading, refusal
}

// correct counts the difference between what was counted and the real use.
func (r *Rates) correct(counted []countedSlot, delta int64) {
	var writes []*rateRows
	now := r.nanos()
	for _, c := range counted {
		c.subject.mu.Lock()
		c.window.used.Advance(now)
		if slot, ok := c.window.used.Correct(c.slot, delta); ok {
			writes = r.toWrite(writes, countedSlot{c.subject, c.window, slot})
		}
		c.subject.mu.Unlock()
	}
	r.write(writes)
}

// window is a window of a subject, and what of it the store does not know.
type window struct {
	unit   limits.Unit
	used   limits.Window
	dirty  uint64 // slots, by their place in the window
	queued bool   // an operation that will write them waits in the store
}

func newRateSubject(name string) *rateSubject { return &rateSubject{node: node{name: name}} }

// window must be called with mu held.
func (s *rateSubject) window(r limits.Rate) *window {
	for _, w := range s.windows {
		if w.unit == r.Unit && w.used.Length() == r.Window {
			return w
		}
	}
	w := &window{unit: r.Unit, used: limits.NewWindow(r.Window)}
	s.windows = append(s.windows, w)
	return w
}

// subject returns the subject of this name, and creates it if necessary. index is its index in the
// call.
func (r *Rates) subject(name string, index int) *rateSubject {
	if len(name) <= limits.MaxName {
		if s := r.subjects.get(name, newRateSubject); s != nil {
			return s
		}
		if r.sweep(name) {
			if s := r.subjects.get(name, newRateSubject); s != nil {
				return s
			}
		}
	}
	return r.overflow[index%limits.MaxSubjects]
}

// sweep removes subjects without a counted use from name's shard, at most once a second.
func (r *Rates) sweep(name string) bool {
	now := r.nanos()
	last := &r.swept[r.subjects.index(name)]
	if before := last.Load(); now-before < int64(time.Second) || !last.CompareAndSwap(before, now) {
		return false
	}
	r.subjects.sweep(name, func(s *rateSubject) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, w := range s.windows {
			if total, _ := w.used.Used(now); total > 0 {
				return false
			}
		}
		s.gone = true
		return true
	})
	return true
}
