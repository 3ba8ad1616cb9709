package limits

import "context"

// SharedSlots is where several gateways share the slots of subjects.
type SharedSlots interface {
	// Share returns this gateway's share of a subject that has calls under way or waiting. The
	// limiter keeps the demand up to date, and is locked while it does so.
	Share(subject string, demand *Demand) Share
	// Enter counts one request as Rates.Request does, and asks for the slots that a call of the
	// subjects needs, in one message. It asks for none if the request is refused. An engine that does
	// not answer is no error.
	Enter(ctx context.Context, subjects []Subject) (Reading, *RateRefusal, error)
	// InUse returns what all gateways use of each subject, in their order.
	InUse(ctx context.Context, subjects []Subject) ([]ConcurrencyUse, error)
}

// Demand is what the calls of a subject need at one gateway.
type Demand struct {
	Limit   int // of the newest call: after a reload the new limit holds for waiting calls too
	InUse   int // calls under way
	Waiting int // calls in the queue
}

// Share says how many of a subject's slots this gateway may use. The limiter is locked when it calls
// one: a Share must return at once.
type Share interface {
	// Room is how many slots the calls may use now.
	Room() int
	// Expect adds to the calls that have entered and will take their slots soon.
	Expect(calls int)
	// Changed is called after the demand has changed.
	Changed()
	// Freed is called when a call has given its slot back.
	Freed()
	// Keep keeps a slot of another subject for a call that has come from there into the queue here: it
	// needs slots of both.
	Keep(other Share)
	// Forget reports whether nobody holds anything for this gateway. The share is not used any more
	// then.
	Forget() bool
}

// wholeLimit is the Share of a gateway that is alone.
type wholeLimit struct{ demand *Demand }

func (w wholeLimit) Room() int  { return w.demand.Limit }
func (wholeLimit) Expect(int)   {}
func (wholeLimit) Changed()     {}
func (wholeLimit) Freed()       {}
func (wholeLimit) Keep(Share)   {}
func (wholeLimit) Forget() bool { return true }

// Share makes the limiter share its slots. It must be called while there are no calls. Nil ends it,
// if there is no call any more.
func (l *ConcurrencyLimiter) Share(s SharedSlots) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != nil || len(l.pools) == 0 {
		l.shared = s
	}
}

// Update runs change while the limiter is locked: shares change only then. Serve gives the slots that
// a subject now has to calls that wait.
func (l *ConcurrencyLimiter) Update(change func(serve func(subject string))) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(func(subject string) {
		if q := l.pools[subject]; q != nil {
			q.serve()
			l.forget(q)
		}
	})
}
