package request

import "time"

// Phases are the parts of a request's time in which the gateway waited for others. What is left is
// its overhead: checks, guardrails with their webhooks, reservations, translation.
//
// The overhead of an answer in one piece is the time until it is known, without these parts. That of a
// stream ends with its first event: from then on the gateway works while the provider does, and a
// slow client cannot be told from a slow gateway. Neither has the time in which the client is written
// to.
type Phases struct {
	Body     time.Duration // reading the client's request
	Queued   time.Duration // waiting for concurrency slots
	Provider time.Duration // sending to providers, waiting for them, and pauses that they asked for
}

// overhead returns the rest of a time since the request began.
func (p *Phases) overhead(since time.Duration) time.Duration {
	return max(since-p.Body-p.Queued-p.Provider, 0)
}
