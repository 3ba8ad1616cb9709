package sqlite

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Sink is what a Ledger writes to.
type Sink = sink

// ReplaceSink replaces the store of l.
func ReplaceSink(l *Ledger, s Sink) { l.store = s }

// ReplaceRatesSink replaces the store of r.
func ReplaceRatesSink(r *Rates, s Sink) { r.store = s }

// Backlog is how many changes wait because the store is full.
func Backlog(l *Ledger) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.backlog)
}

// Behind reports whether l locks for every change because earlier ones wait.
func Behind(l *Ledger) bool { return l.behind.Load() }

// LimitLedgerSubjects bounds the subjects of a shard.
func LimitLedgerSubjects(l *Ledger, perShard int) { l.subjects.limit = perShard }

// FillCalls fills the shard of a call with calls under way.
func FillCalls(l *Ledger, call string) {
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
func Remembered(l *Ledger) int {
	n := 0
	for i := range l.calls.shards {
		l.calls.shards[i].mu.Lock()
		n += len(l.calls.shards[i].calls)
		l.calls.shards[i].mu.Unlock()
	}
	return n
}

// LimitRateSubjects bounds the subjects of a shard.
func LimitRateSubjects(r *Rates, perShard int) { r.subjects.limit = perShard }

// Known is how many subjects have windows of their own.
func Known(r *Rates) int { return len(r.subjects.all()) }

// SameShard reports whether two names share a shard of the table.
func SameShard(r *Rates, a, b string) bool { return r.subjects.index(a) == r.subjects.index(b) }

// LockSubject makes a subject and holds its lock.
func LockSubject(r *Rates, name string) (unlock func()) {
	s := r.subject(name, 0)
	s.mu.Lock()
	return s.mu.Unlock
}

// Sweep sweeps the shard of a name.
func Sweep(r *Rates, name string) { r.sweep(name) }

// Look returns the rate with the least remaining, without counting anything.
func (r *Rates) Look(unit limits.Unit, subjects []limits.Subject) limits.Reading {
	reading, _ := r.count(unit, 0, subjects, nil)
	return reading
}

// Flush returns when everything settled and reserved before is on disk.
func (l *Ledger) Flush(ctx context.Context) error {
	l.mu.Lock()
	empty, err := l.drain()
	l.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
	}
	if !empty {
		return fmt.Errorf("%w: %w", limits.ErrUnavailable, store.ErrFull)
	}
	if err := l.store.(interface{ Flush(context.Context) error }).Flush(ctx); err != nil {
		return fmt.Errorf("%w: %w", limits.ErrUnavailable, err)
	}
	return nil
}

// Ask is Request, which never fails here.
func (r *Rates) Ask(subjects []limits.Subject) (limits.Reading, *limits.RateRefusal) {
	reading, refusal, _ := r.Request(context.Background(), subjects)
	return reading, refusal
}

// Take is Tokens, which never fails here.
func (r *Rates) Take(n int64, subjects []limits.Subject) (limits.Reading, *limits.Grant, *limits.RateRefusal) {
	reading, grant, refusal, _ := r.Tokens(context.Background(), n, subjects)
	return reading, grant, refusal
}
