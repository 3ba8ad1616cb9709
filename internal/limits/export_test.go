package limits

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Watch is told every change of l, with the subject locked.
func Watch(l *SQLiteLedger, watch func(Balance)) { l.watch = watch }

// Sink is what a SQLiteLedger writes to.
type Sink = sink

// ReplaceSink puts something else in the place of the store.
func ReplaceSink(l *SQLiteLedger, s Sink) { l.store = s }

// ReplaceRatesSink does so for rates.
func ReplaceRatesSink(r *Rates, s Sink) { r.store = s }

// Backlog is how many changes wait for a store that is full.
func Backlog(l *SQLiteLedger) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.backlog)
}

// Behind reports whether l takes its lock for every change because some wait.
func Behind(l *SQLiteLedger) bool { return l.behind.Load() }

// LimitLedgerSubjects bounds the subjects of a shard.
func LimitLedgerSubjects(l *SQLiteLedger, perShard int) { l.subjects.limit = perShard }

// FillCalls puts as many calls under way into the shard of a call as it may have.
func FillCalls(l *SQLiteLedger, call string) {
	s := l.calls.shard(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range maxHolds / shardCount {
		s.held[strconv.Itoa(i)] = &held{}
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
		n += len(l.calls.shards[i].held)
		l.calls.shards[i].mu.Unlock()
	}
	return n
}

// RoomFor bounds the subjects of a shard.
func RoomFor(r *Rates, perShard int) { r.subjects.limit = perShard }

// Known is how many subjects have room of their own.
func Known(r *Rates) int { return len(r.subjects.all()) }

// Pools is how many subjects a limiter remembers.
func Pools(l *ConcurrencyLimiter) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pools)
}

// Span is the period around a time.
func Span(p Period, at time.Time) (begins, ends time.Time) {
	b, e := p.span(at.Unix())
	return date(b), date(e)
}

// ReadPeriod reads back how the database names a period.
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
func SameShard(r *Rates, a, b string) bool { return r.subjects.index(a) == r.subjects.index(b) }

// LockSubject makes a subject and holds its lock.
func LockSubject(r *Rates, name string) (unlock func()) {
	s := r.subject(name, 0)
	s.mu.Lock()
	return s.mu.Unlock
}

// Sweep looks through the shard of a name.
func Sweep(r *Rates, name string) { r.sweep(name) }

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

// Look is the reading of the rate with the least remaining, without counting anything.
func (r *Rates) Look(unit Unit, subjects []Subject) Reading {
	reading, _ := r.take(unit, 0, subjects, nil)
	return reading
}

// Flush returns when everything that was settled and reserved before is on disk.
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
	if err := l.store.Flush(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
