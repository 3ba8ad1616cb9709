package source

import (
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

const (
	// maxAnswers is how many answers are kept. An answer has 16 KiB at most, but usually 200 bytes.
	maxAnswers = 10_000
	// minSweep is the number of answers below which it is not worth looking for old ones.
	minSweep = 64
)

// key is what answers are kept by. That of a list has a tenant only.
type key struct {
	tenant, name, caller, user string
	viewOnly                   bool
}

func keyOf(q *guest.Question) key {
	return key{q.Tenant, q.Name, q.Caller.Key, q.Caller.User, q.ViewOnly}
}

// memory is what outlives a configuration: answers, and whether the control plane works.
type memory struct {
	now func() time.Time

	mu      sync.Mutex // guards the following
	health  health
	answers map[key]*entry
	sweepAt int // number of answers at which the next one looks for old ones
}

func newMemory(now func() time.Time) *memory {
	return &memory{now: now, answers: make(map[key]*entry), sweepAt: minSweep}
}

// result is what a question has brought.
type result struct {
	answer  guest.Answer
	items   []guest.Item // of a list, nil where there is none
	failure *Failure
	until   time.Time // it counts before; zero: for those only who have waited for it
	stale   time.Time // Last has it before
}

// entry is what is known of a key. It is in memory.answers unless it was dropped.
type entry struct {
	last    result
	allowed result    // the last one that was an "allow" or a list, for Last
	flight  *question // under way; nil: none is
}

// question is one that is under way.
type question struct {
	began time.Time
	over  chan struct{} // closed when result is set
	result
}

var errDown = errors.New("the last questions have failed")

// answer returns the result of a key, if one counts that was asked at since or later, else that of
// ask, and reports whether it was asked here. Equal questions that are under way are asked once.
func (m *memory) answer(k key, since time.Time, ask func() result) (r result, asked bool) {
	q, mine := m.begin(k, since)
	if !mine {
		<-q.over
		return q.result, false
	}
	q.failure = failed(FailedInvalid, "the question was not asked") // after a panic
	defer m.end(k, q)
	q.result = ask()
	return q.result, true
}

// begin returns the question whose result the caller takes: one that has it already, one that is
// under way, or the caller's own.
func (m *memory) begin(k key, since time.Time) (q *question, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, e := m.now(), m.answers[k]
	switch {
	case e != nil && now.Before(e.last.until) && !e.last.answer.Asked.Before(since):
		return over(e.last), false
	case e != nil && e.flight != nil && !e.flight.began.Before(since):
		return e.flight, false
	case !m.health.permits(now, k.name == ""):
		return over(result{failure: &Failure{FailedDown, errDown}}), false
	}
	if e == nil {
		m.sweep(now)
		e = new(entry)
		m.answers[k] = e
	}
	e.flight = &question{began: now, over: make(chan struct{})}
	return e.flight, true
}

func over(r result) *question {
	q := &question{over: make(chan struct{}), result: r}
	close(q.over)
	return q
}

// end keeps the result of a question. One that was dropped meanwhile is not kept.
func (m *memory) end(k key, q *question) {
	close(q.over)
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.answers[k]; e != nil && e.flight == q {
		e.flight, e.last = nil, q.result
		if q.failure == nil {
			e.allowed = q.result
		}
	}
}

// last returns the last "allow" or list of a key, unless it is too old even for a control plane that is
// down.
func (m *memory) last(k key) (result, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.answers[k]
	if e == nil || !m.now().Before(e.allowed.stale) {
		return result{}, false
	}
	return e.allowed, true
}

// drop forgets answers, also to questions under way.
func (m *memory) drop(of func(key) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.answers, func(k key, _ *entry) bool { return of(k) })
}

// expire has the next question asked again.
func (m *memory) expire(k key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.answers[k]; e != nil {
		e.last.until = time.Time{}
	}
}

// sweep makes room for one more answer, in amortised constant time; mu is held. A question under way
// whose entry is taken out has its result for those who wait for it.
func (m *memory) sweep(now time.Time) {
	if len(m.answers) < m.sweepAt {
		return
	}
	maps.DeleteFunc(m.answers, func(_ key, e *entry) bool {
		return e.flight == nil && !now.Before(e.last.until) && !now.Before(e.allowed.stale)
	})
	for k := range m.answers {
		if len(m.answers) < maxAnswers {
			break
		}
		delete(m.answers, k)
	}
	m.sweepAt = min(max(minSweep, 2*len(m.answers)), maxAnswers)
}
