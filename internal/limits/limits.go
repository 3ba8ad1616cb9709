// Package limits bounds what a caller may use: requests and tokens in a window of time, concurrent
// calls, money and tokens in a calendar period. Its refusals are values; the gateway turns them
// into answers.
//
//	rates, err := sqlite.NewRates(ctx, st, time.Now)
//	concurrency := limits.NewConcurrencyLimiter()
//	ledger, crashed, err := sqlite.OpenLedger(ctx, st) // crashed: interrupted calls, charged as reserved
//
//	subjects := []limits.Subject{key, tenant, everyone}        // as configured, most specific first
//	entry, err := concurrency.Enter(ctx, rates, subjects, nil) // entry.Over, entry.Busy: 429
//	defer entry.Permit.Release()
//	busy, err := entry.Permit.Wait(ctx)                        // busy != nil: 429
//	used, err := ledger.Exhausted(ctx, at, subjects)           // used != nil: 402
//	_, grant, over, err := rates.Tokens(ctx, upper, subjects)  // over != nil: 429
//	reservation, used, err := limits.Reserve(ctx, ledger, r)   // used != nil: 402; err: 503 or go on, by policy
//	…
//	grant.Adjust(tokens)
//	err = reservation.Settle(ctx, limits.Amount{Nano: cost, Tokens: tokens})
//
// There are three kinds of limits:
//
//   - [Rates] use sliding windows: no window of that length ever exceeds the limit. Windows of an
//     hour and longer are kept in the store, shorter ones in memory.
//   - [ConcurrencyLimiter] counts calls under way and has a short queue.
//   - A [Ledger] counts what was spent, and what calls under way have reserved, by day, week and
//     month in UTC, or in total. A call is sent only after it was reserved. So only a provider that
//     uses more than the reservation can exceed a hard budget.
//
// All of them know a subject by its name and get its limits with each call. So a reload changes
// limits and keeps the counts. The counts of a renamed subject start at zero: see [Unnamed].
package limits

import (
	"errors"
	"math"
	"time"
)

const (
	// MaxName bounds the name of a subject, in bytes: the name of a model may come from a client.
	MaxName = 512
	// MaxCall bounds the ID of a call, in bytes.
	MaxCall = 256
	// MaxSubjects bounds the subjects of one call: key, tenant, model and gateway, twice.
	MaxSubjects = 8
	// MaxRules bounds the rates, and the budgets, of one subject.
	MaxRules = 16
)

// ErrInvalid is wrapped if a call passes values that no configuration can produce: a bug of the
// caller.
var ErrInvalid = errors.New("invalid limit")

// Unit is what a limit counts.
type Unit uint8

// Units. Money is counted in nano-USD.
const (
	Requests Unit = iota + 1
	Tokens
	Money
)

// String returns the unit as configuration and database spell it.
func (u Unit) String() string {
	switch u {
	case Requests:
		return "requests"
	case Tokens:
		return "tokens"
	case Money:
		return "usd"
	}
	return "unknown"
}

// Day is the longest window of a Rate.
const Day = 24 * time.Hour

// Rate is a limit of requests or tokens in any window of that length.
type Rate struct {
	Unit   Unit          // Requests or Tokens
	Limit  int64         // at least 1
	Window time.Duration // time.Second, time.Minute, time.Hour or Day
}

// NoLimit is the limit of a Budget that refuses nothing: what is spent is only counted.
const NoLimit = math.MaxInt64

// MaxSharedBudget is the highest limit of a budget that gateways share: 9,000,000 USD or as many
// nano-tokens. Scripts of Valkey calculate with doubles, which are exact to 2^53.
const MaxSharedBudget = 9_000_000_000_000_000

// Budget is a limit of money or tokens in a calendar period.
type Budget struct {
	Unit   Unit  // Money (nano-USD) or Tokens
	Limit  int64 // at least 1; NoLimit: it is only counted
	Period Period
	// Soft reserves what a call will likely use instead of the most it can use. Calls are refused
	// later, and the budget may be exceeded by the difference. The zero value is a hard budget.
	Soft bool
}

// Hard reports whether a call reserves the most that it can use, because the limit must not be
// exceeded.
func (b Budget) Hard() bool { return !b.Soft && b.Limit != NoLimit }

// Concurrency is a limit of calls at once.
type Concurrency struct {
	Limit int           // calls under way; 0: no limit
	Queue int           // calls that may wait for one of them to end; 0: none, refuse at once
	Wait  time.Duration // the queue timeout
}

// Subject is a key ("key:dev"), a tenant ("tenant:acme"), a model ("model:openai/gpt-4o") or
// everybody ("gateway"), with its limits as configured. Its counts are kept under Name.
type Subject struct {
	Name        string
	Rates       []Rate
	Budgets     []Budget
	Concurrency Concurrency
}

// Amount is what a call uses, or may use.
type Amount struct {
	Nano   int64 // nano-USD
	Tokens int64
}

// Plus adds numbers that are not negative. On overflow it returns the largest number, which exceeds
// any limit.
func Plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
