package failover

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// MaxAttempts is how many requests one call sends to providers, retries included.
const MaxAttempts = 6

// Decision is what follows from a failed attempt, as long as nothing of an answer has reached the
// caller.
type Decision struct {
	Class Class

	// RetrySame reports whether the same target may be asked once more, after Wait. With RetryLast
	// only a call that has no other target left does.
	RetrySame, RetryLast bool
	Wait                 time.Duration

	// Next reports whether the next target is asked. NextListed is about a caller who listed the
	// models: the request is too long for one or refused by its moderation, and another may take it.
	Next, NextListed bool

	// RetryAfter is the pause that the provider asked for, 0 for none.
	RetryAfter time.Duration
}

// Result is the end of the attempt.
func (d Decision) Result() Result { return Result{Class: d.Class, RetryAfter: d.RetryAfter} }

// Decide says what follows from a failed attempt. status is that of the provider's answer, 0 if there
// was none.
func Decide(e *apierror.Error, status int) Decision {
	if e.Code == apierror.UpstreamError {
		return decideStatus(e, status)
	}
	d, ok := decisions[e.Code]
	if !ok {
		d = own
	}
	if e.Code == apierror.UpstreamRejected && e.HTTPStatus() == 404 {
		d.Next = true // what is missing, and whose fault that is, is unknown
	}
	if d.Class != Neutral && d.Class != Lasting {
		d.RetryAfter = e.RetryAfter
	}
	if d.Class == RateLimited {
		d.Wait, d.RetrySame = e.RetryAfter, e.RetryAfter > 0
	}
	return d
}

// own is a refusal of the gateway, or of a provider because of the request.
var own = Decision{Class: Neutral}

// decisions has the codes that a failed attempt can have, but for upstream_error. Any other code says
// nothing about the target.
var decisions = map[apierror.Code]Decision{
	apierror.UpstreamTimeout:       {Class: Failure, Next: true}, // it may still be worked on and billed
	apierror.UpstreamOverloaded:    {Class: Failure, Next: true},
	apierror.UpstreamRateLimited:   {Class: RateLimited, RetryLast: true, Next: true},
	apierror.UpstreamAuth:          {Class: Lasting, Next: true},
	apierror.UpstreamQuota:         {Class: Lasting, Next: true},
	apierror.ModelNotFound:         {Class: Lasting, Next: true}, // the provider does not know the model
	apierror.ModelNotCallable:      {Class: Neutral, Next: true}, // the provider does not have the route
	apierror.ContextLengthExceeded: {Class: Neutral, NextListed: true},
	apierror.ProviderContentPolicy: {Class: Neutral, NextListed: true},
}

// decideStatus tells apart what upstream_error stands for. What fails at once is worth a second
// request: a connection that was not made or broke, a 500, an answer that makes no sense. What says
// that the provider is busy or slow is not.
func decideStatus(e *apierror.Error, status int) Decision {
	if 400 <= status && status < 500 && status != 408 {
		return Decision{Class: Neutral, Next: true} // perhaps the caller's fault
	}
	return Decision{
		Class: Failure, Next: true, RetryAfter: e.RetryAfter,
		RetrySame: status < 300 || status == 500,
	}
}
