package modelcall

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

// attempts are the requests of a call to its targets, one after another: which comes next, and which
// failure the caller gets.
type attempts struct {
	alone  bool // the call had one target from the start
	listed bool // the request names further models
	began  time.Time
	bytes  int64 // of the request

	queue  []*target // not asked yet
	next   *target   // that is prepared; nil for none
	last   *target   // that was asked last
	same   bool      // last was asked a second time
	made   int
	failed *apierror.Error // what the caller gets if no other target answers
}

const (
	// lastBegin is how long after the first attempt the last one may begin: the SDKs wait 600 s.
	lastBegin = 10 * time.Minute
	// retryPause is between two requests to the same target.
	retryPause = 500 * time.Millisecond
	// longestPause is how long a call waits for a target that limits its rate, if it is the last.
	longestPause = 5 * time.Second
)

// take takes the next target out of the queue, nil if there is none.
func (a *attempts) take() *target {
	if a.next = nil; len(a.queue) > 0 {
		a.next, a.queue = a.queue[0], a.queue[1:]
	}
	return a.next
}

// refused notes that the request is not possible at the target that was taken.
func (a *attempts) refused(e *apierror.Error) {
	if a.failed == nil {
		a.failed = e
	}
}

// begin notes that the prepared target is asked, and returns it.
func (a *attempts) begin() *target {
	a.last, a.next = a.next, nil
	a.made++
	return a.last
}

// repeat notes that the last target is prepared once more.
func (a *attempts) repeat() { a.next, a.same = a.last, true }

// open reports whether another attempt can follow the present one.
func (a *attempts) open() bool {
	return a.made < failover.MaxAttempts && (len(a.queue) > 0 || !a.alone && !a.same)
}

// over reports whether no further attempt may begin.
func (a *attempts) over(now time.Time) bool {
	return a.made >= failover.MaxAttempts || now.Sub(a.began) > lastBegin
}

// mayTakeNext reports whether another target may follow a failure.
func (a *attempts) mayTakeNext(d failover.Decision) bool {
	return d.Next || d.NextListed && a.listed
}

// mayRepeat reports whether the last target may be asked a second time: if its failure passes quickly.
func (a *attempts) mayRepeat(d failover.Decision) bool {
	return !a.alone && !a.same && (d.RetrySame || d.RetryLast) && d.Wait <= longestPause
}

// failedWith notes the failure of an attempt.
func (a *attempts) failedWith(failure *apierror.Error) {
	if a.made == 1 || !isLasting(failure) {
		a.failed = told(a.failed, failure)
	}
}

// isLasting reports whether only an operator can mend the failure. The caller gets such a failure only
// if no attempt had another one.
func isLasting(e *apierror.Error) bool {
	return failover.Decide(e, 0).Class == failover.Lasting
}

// told returns which of two failures the caller gets: the later one or, of two rate limits, the one
// with the shorter pause.
func told(before, now *apierror.Error) *apierror.Error {
	if before != nil && before.Code == apierror.UpstreamRateLimited && now.Code == before.Code {
		if before.RetryAfter > 0 && (now.RetryAfter == 0 || before.RetryAfter < now.RetryAfter) {
			return before
		}
	}
	return now
}
