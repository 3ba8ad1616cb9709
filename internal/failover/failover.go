// Package failover decides where a call goes when there are several targets, and what follows from a
// failed attempt. It does no I/O; clock and randomness are handed in.
//
//	picks := health.Order(nil, groups, session)      // every candidate once, in the order to try
//	trial := health.Begin(id, alone)                 // an attempt begins
//	decision := failover.Decide(refusal, status)     // what a failure means
//	trial.End(decision.Result())                     // every trial ends
//
// [Health] keeps a record of each target: a model at one provider, or at one of its endpoints. A
// target that fails cools down: calls that have another target go there. After the cool-down one call
// tries it, the probe.
package failover

import "time"

// Candidate is a target in a group of the order.
type Candidate struct {
	ID     string  // "provider/model" or "provider/model@endpoint"
	Weight float64 // its share of the calls of its group; 0 is 1
}

// TargetID is the ID of a model ("provider/model") at an endpoint of its provider; "" is the only
// one.
func TargetID(model, endpoint string) string {
	if endpoint == "" {
		return model
	}
	return model + "@" + endpoint
}

// Pick is a candidate by its group and its index in the group. Rank is the place that it would have
// if no candidate were cooling: a candidate with a lower rank that comes later is cooling.
type Pick struct{ Group, Index, Rank int }

// Class is what the end of an attempt says about its target.
type Class int

// The classes.
const (
	// Success is an answer that is whole, or as whole as its client wanted it.
	Success Class = iota
	// Neutral says nothing about the target: the caller's own error, a client that left, an attempt
	// that was not sent.
	Neutral
	// Failure is a target that did not answer, too late or with nonsense.
	Failure
	// RateLimited is a target that asks for a pause.
	RateLimited
	// Lasting is what an operator must mend: a refused credential, a used-up quota, a missing model.
	Lasting
)

// String is the name of the class in the list of providers and in events.
func (c Class) String() string {
	return [...]string{"success", "neutral", "failure", "rate_limited", "lasting"}[c]
}

// Result is how an attempt ended.
type Result struct {
	Class Class
	// RetryAfter is the pause that the provider asked for, 0 for none. Up to MaxRetryAfter counts.
	RetryAfter time.Duration
}

// Change is a target that became unhealthy or healthy. A pause that its provider asked for is no
// change.
type Change struct {
	ID      string
	Healthy bool
	Class   Class     // of the failure that made it unhealthy; Success if Healthy
	Until   time.Time // the end of its cool-down; zero if it is not cooled
}

// The states of a target, as the list of providers shows them.
const (
	StateHealthy = "healthy"
	// StateFailing is a target whose calls fail and have no other target, so that it is not cooled.
	StateFailing = "failing"
	// StateCooling is a target that calls avoid until a time.
	StateCooling = "cooling"
	// StateProbing is a target whose cool-down is over: one call tries it, or the next one will.
	StateProbing = "probing"
)

// Status is the record of a target.
type Status struct {
	ID        string
	State     string
	Unhealthy bool      // a failure was reported with a Change, and no recovery since
	Until     time.Time // the end of its cool-down; zero for none
	Attempts  int       // that ended in the last minute; those that were neutral do not count
	Failures  int       // of these
	LastClass Class     // of the last attempt that failed; Success for none

	LastSuccess, LastFailure time.Time // zero for none
}
