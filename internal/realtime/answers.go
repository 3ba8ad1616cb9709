package realtime

import (
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// answers are the calls of a session.
type answers struct {
	s     *Session
	quiet chan struct{} // closed when the client has left and no answer is under way

	mu      sync.Mutex // guards the following, and the calls
	held    *answer    // the next one; nil if it could not be held
	heard   transcripts
	asked   []*answer // by response.create, in their order, of which no response.created has come
	running map[string]*answer
	used    time.Time       // when the session began, an answer began or ended, or a piece of one came
	over    *socket.End     // the session ends when none is under way
	unsaid  *apierror.Error // of the last turn, which may not be answered; nil: it may
	late    *time.Timer     // nil unless the end waits
	hangUp  func(socket.End)
	ended   bool // somebody carries that out
	left    bool // the client has
	broken  bool // the provider has ended the session
}

// answer is one call.
type answer struct {
	Call
	eventID string // of the client's event that asked for it; "" if the provider began it
	begun   bool
	failure *apierror.Error // why it is refused though it was made; nil: it is not
	silent  bool            // the client gets no more of it
}

// finish ends it.
func (a *answer) finish(failure *apierror.Error) { a.Finish(a.begun, failure) }

// ask begins an answer for a response.create. The error is a refusal: nothing may be sent.
func (c *answers) ask(eventID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over != nil {
		return apierror.New(apierror.ShuttingDown, "the session is about to end; open another one")
	}
	if c.busy() >= maxAnswers {
		return apierror.New(apierror.WebSocketQueueFull, "%d answers are under way; ask for the next when one has ended", maxAnswers)
	}
	if err := c.hold(); err != nil {
		return err
	}
	a := c.begin(eventID)
	if a.failure != nil {
		a.End(openai.Summary{}, true) // the provider is not asked
		a.finish(a.failure)
		return a.failure
	}
	c.asked = append(c.asked, a)
	return nil
}

// busy returns how many answers are under way. The mutex is held.
func (c *answers) busy() int { return len(c.asked) + len(c.running) }

// hold holds the next answer, unless there is one. A budget that is used up ends the session, if
// nothing is under way that may give some of it back. The mutex is held.
func (c *answers) hold() error {
	if c.held != nil {
		return nil
	}
	call, err := c.s.o.Calls.Hold()
	if err == nil {
		c.held = &answer{Call: call}
		return nil
	}
	e := apierror.From(err)
	if e.HTTPStatus() == http.StatusPaymentRequired && c.busy() == 0 && c.over == nil {
		c.over = &socket.End{Code: 1008, Reason: "The budget is used up: " + e.Message, Told: e}
	}
	return err
}

// begin makes the held answer one that has begun. The mutex is held.
func (c *answers) begin(eventID string) *answer {
	a := c.held
	c.held = nil
	a.eventID, a.begun, c.used = eventID, true, c.s.o.Uploads.Now()
	if err := a.Begin(); err != nil {
		a.failure = apierror.From(err)
	}
	return a
}

// created notes that an answer has begun: the first that was asked for, or one that the provider
// began. The caller must cancel an answer with a failure, and one for which created returns nil:
// it cannot be charged.
func (c *answers) created(id string) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	var a *answer
	switch {
	case len(c.asked) > 0:
		a, c.asked = c.asked[0], c.asked[1:]
	default:
		refusal := c.hold()
		if refusal != nil {
			call, err := c.s.o.Calls.Owe()
			if err != nil {
				return nil
			}
			c.held = &answer{Call: call}
		}
		a = c.begin("")
		switch {
		case refusal != nil:
			a.failure = apierror.From(refusal)
		case a.failure == nil:
			a.failure = c.unsaid
		}
		a.silent = a.failure != nil
	}
	if same := c.running[id]; same != nil {
		same.finish(nil)
	}
	c.running[id] = a
	return a
}

// find returns an answer that is under way, nil for none.
func (c *answers) find(id string) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[id]
}

// piece counts a piece of an answer.
func (c *answers) piece(a *answer, text int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.Piece(text)
	c.used = c.s.o.Uploads.Now()
}

// deny refuses an answer that is being made: the client gets no more of it than its end.
func (c *answers) deny(a *answer, refusal *apierror.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.failure, a.silent = refusal, true
}

// unsay refuses the answers to what may not be said: all that are under way, and those that the
// provider begins before the next turn. It returns the ids of the first, which must be cancelled.
func (c *answers) unsay(refusal *apierror.Error) (running []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsaid = refusal
	for _, a := range c.asked {
		a.failure, a.silent = refusal, true
	}
	for id, a := range c.running {
		a.failure, a.silent = refusal, true
		running = append(running, id)
	}
	return running
}

// done charges an answer that has ended and holds the next one. It returns why the session ends,
// nil if it goes on.
func (c *answers) done(id string, sum openai.Summary, failure *apierror.Error) *socket.End {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.running[id]; a != nil {
		delete(c.running, id)
		refused := failure != nil && !sum.HasUsage
		switch {
		case a.failure != nil:
			failure, refused = a.failure, false
		case c.left && failure == nil && sum.Finish == finishes["cancelled"]:
			failure = goneError()
		}
		a.End(sum, refused)
		a.finish(failure)
	}
	return c.next()
}

// next is what follows when an answer has ended. The mutex is held.
func (c *answers) next() *socket.End {
	c.used = c.s.o.Uploads.Now()
	c.checkQuiet()
	if !c.left && c.over == nil {
		_ = c.hold() // the next event that asks for an answer says why
	}
	if c.busy() > 0 {
		return nil
	}
	return c.over
}

// rejected ends an answer that the provider refuses to begin, by the client's event. It returns why
// the session ends, nil if it goes on.
func (c *answers) rejected(eventID string, failure *apierror.Error) *socket.End {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, a := range c.asked {
		if a.eventID == eventID && eventID != "" {
			c.asked = append(c.asked[:i], c.asked[i+1:]...)
			a.End(openai.Summary{}, true)
			a.finish(failure)
			return c.next()
		}
	}
	return nil
}
