package limits

import (
	"context"
	"time"
)

// Rates counts requests and tokens in sliding windows. It is safe for concurrent use. An engine that
// does not answer is no error: a gateway then decides alone.
type Rates interface {
	// Request counts one request against all request rates of the subjects, or against none if one
	// of them is used up. The names of the subjects must differ. The reading is that of the rate
	// with the least remaining.
	Request(ctx context.Context, subjects []Subject) (Reading, *RateRefusal, error)
	// Tokens counts n tokens, an upper bound of what the call will use, against all token rates of
	// the subjects or against none. The grant is for the adjustment when the real use is known. It
	// is nil with a refusal.
	Tokens(ctx context.Context, n int64, subjects []Subject) (Reading, *Grant, *RateRefusal, error)
	// Read returns the use of each rate of the subjects, in their order, and counts nothing.
	Read(ctx context.Context, subjects []Subject) ([]RateUse, error)
}

// Reading is the state of one rate, in the terms of the rate-limit headers. The zero value means
// that no rate applies.
type Reading struct {
	Subject   string
	Rate      Rate
	Remaining int64         // at least 0
	Reset     time.Duration // until everything counted has left the window
}

// RateRefusal names the rate that is used up. Nothing was counted.
type RateRefusal struct {
	Reading // of the rate with the longest wait
	// RetryAfter is when the same call would be admitted if nobody else used anything until then.
	// It is exact.
	RetryAfter time.Duration
	// Never is set if the call needs more than the limit. RetryAfter is then 0.
	Never bool
}

// RateUse is what was counted against one rate.
type RateUse struct {
	Rate  Rate
	Used  int64         // in the window; more than the limit if calls used more tokens than was estimated
	Reset time.Duration // until everything counted has left the window; 0 for nothing
}
