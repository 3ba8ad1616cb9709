package limits

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Watch calls watch for every change of l, with the subject locked.
func Watch(l *SQLiteLedger, watch func(Balance)) { l.watch = watch }

// Sink is what a SQLiteLedger writes to.
type Sink = sink

// ReplaceSink replaces the store of l.
func ReplaceSink(l *SQLiteLedger, s Sink) { l.store = s }

// ReplaceRatesSink replaces the store of r.
func ReplaceRatesSink(r *LocalRates, s Sink) { r.store = s }

// Backlog is how many changes wait because the store is full.
func Backlog(l *SQLiteLedger) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.backlog)
}

// Behind reports whether l locks for every change because earlier ones wait.
func Behind(l *SQLiteLedger) bool { return l.behind.Load() }

// LimitLedgerSubjects bounds the subjects of a shard.
func LimitLedgerSubjects(l *SQLiteLedger, perShard int) { l.subjects.limit = perShard }

// FillCalls fills the shard of a call with calls under way.
func FillCalls(l *SQLiteLedger, call string) {
	s := l.calls.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range maxOpenCalls / shardCount {
		s.calls[strconv.Itoa(i)] = &ledgerCall{}
	}
}

const (
	CoalesceFrom    = coalesceFrom
	RememberedCalls = rememberedCalls
)

// Remembered is how many calls l knows, under way or ended.
func Remembered(l *SQLiteLedger) int {
	n := 0
	for i := range l.calls.shards {
		l.calls.shards[i].mu.Lock()
		n += len(l.calls.shards[i].calls)
		l.calls.shards[i].mu.Unlock()
	}
	return n
}

// LimitRateSubjects bounds the subjects of a shard.
func LimitRateSubjects(r *LocalRates, perShard int) { r.subjects.limit = perShard }

// Known is how many subjects have windows of their own.
func Known(r *LocalRates) int { return len(r.subjects.all()) }

// Pools is how many subjects a limiter remembers.
func Pools(l *ConcurrencyLimiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pools)
}

// Span returns the period that contains a time.
func Span(p Period, at time.Time) (begins, ends time.Time) {
	b, e := p.span(at.Unix())
	return date(b), date(e)
}

// ReadPeriod parses the name that the database gives a period.
func ReadPeriod(p Period, at time.Time) (begins, ends time.Time, err error) {
	b, _ := p.span(at.Unix())
	begin, end, err := p.parsePeriod(p.periodName(b))
	return date(begin), date(end), err
}

// InQueue reports whether a permit waits now.
func InQueue(p *Permit) bool {
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	return p.waitingAt != nil
}

// SameShard reports whether two names share a shard of the table.
func SameShard(r *LocalRates, a, b string) bool { return r.subjects.index(a) == r.subjects.index(b) }

// LockSubject makes a subject and holds its lock.
func LockSubject(r *LocalRates, name string) (unlock func()) {
	s := r.subject(name, 0)
	s.mu.Lock()
	return s.mu.Unlock
}

// Sweep sweeps the shard of a name.
func Sweep(r *LocalRates, name string) { r.sweep(name) }

// AcquireWait acquires and waits.
func (l *ConcurrencyLimiter) AcquireWait(ctx context.Context, subjects []Subject) (*Permit, *Busy, error) {
	p, busy := l.Acquire(subjects, nil)
	if busy != nil {
		return nil, busy, nil
	}
	if busy, err := p.Wait(ctx); busy != nil || err != nil {
		return nil, busy, err
	}
	return p, nil, nil
}

// Look returns the rate with the least remaining, without counting anything.
func (r *LocalRates) Look(unit Unit, subjects []Subject) Reading {
	reading, _ := r.count(unit, 0, subjects, nil)
	return reading
}

// Flush returns when everything settled and reserved before is on disk.
func (l *SQLiteLedger) Flush(ctx context.Context) error {
	l.mu.Lock()
	empty, err := l.drain()
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if !empty {
		return fmt.Errorf("%w: %w", ErrUnavailable, store.ErrFull)
	}
	if err := l.store.(interface{ Flush(context.Context) error }).Flush(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// Ask is Request, which never fails here.
func (r *LocalRates) Ask(subjects []Subject) (Reading, *RateRefusal) {
	reading, refusal, _ := r.Request(context.Background(), subjects)
	return reading, refusal
}

// Take is Tokens, which never fails here.
func (r *LocalRates) Take(n int64, subjects []Subject) (Reading, *Grant, *RateRefusal) {
	reading, grant, refusal, _ := r.Tokens(context.Background(), n, subjects)
	return reading, grant, refusal
}

// ReadOne is Read of one subject.
func (r *LocalRates) ReadOne(s Subject) []RateUse {
	uses, _ := r.Read(context.Background(), []Subject{s})
	return uses
}
