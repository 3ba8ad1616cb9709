// Package realtime relays sessions of OpenAI's Realtime API: a client talks with a model over a
// WebSocket, in text and in sound, and the gateway holds what it says to the rules of its key.
//
//	client                              gateway                                   provider
//	  | GET /v1/realtime?model=, Upgrade  |  key, limits, the first answer held      |
//	  |---------------------------------->|  GET /realtime?model=, Upgrade           |
//	  |                              101  |----------------------------------------->|
//	  |<----------------------------------|<-----------------------------------------|
//	  | session.update                    |  model, tools, texts: judged             |
//	  |---------------------------------->|----------------------------------------->|
//	  | input_audio_buffer.append         |  as it came                              |
//	  |---------------------------------->|----------------------------------------->|
//	  |                                   |  rates; the hold is the answer's now     |
//	  | response.created, …delta          |<-----------------------------------------|
//	  |<----------------------------------|  judged                                  |
//	  | response.done {usage}             |  charged, a row; the next answer is held |
//	  |<----------------------------------|<-----------------------------------------|
//
// Each answer is a call with a row and a charge of its own, and so is each transcript of what a
// caller has said. The provider begins answers by itself when it hears a voice, so what one may use
// is reserved before: an answer that could not be paid for never begins.
//
// A session has a goroutine for each direction and reads one message at a time in each: a slow peer
// stops the other one.
package realtime

import (
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	// IdleTime is how long a session stays open without an answer that is made.
	IdleTime = 5 * time.Minute
	// maxRefused is how many events of a client may be refused in a minute.
	maxRefused = 60
	// maxAnswers is how many answers a session may have under way: clients ask for one or two.
	maxAnswers = 8
	// usageWait is how long the provider has to say what the answers have used that were under way
	// when the client left.
	usageWait = 3 * time.Second
)

// Calls are the calls of a session. They are used by one goroutine at a time.
type Calls interface {
	// Part returns a part of the session as the provider gets it: an object with a model. The error
	// is a refusal.
	Part(body []byte) ([]byte, error)
	// Hold reserves what the next answer may use. The error is a refusal.
	Hold() (Answer, error)
	// HoldHeard reserves what the transcript of what is said may use, by a model of the provider.
	HoldHeard(model string) (Answer, error)
	// Guarded reports whether guardrails read the session, and Judge returns what judges an event
	// that is of no answer, nil if nothing does. Blocked is the refusal of such an event.
	Guarded() bool
	Judge() *guardrail.Stream
	Blocked(*guardrail.Verdict) *apierror.Error
	// Finish ends the session, after all its answers.
	Finish(ended string, up, down int64)
}

// Answer is an answer that is held, and then made. See [modelcall.Live].
type Answer interface {
	Begin() error
	Piece(text int)
	Judge() *guardrail.Stream
	Blocked(*guardrail.Verdict) *apierror.Error
	Redacted([]guardrail.Verdict)
	Output() int64
	End(s openai.Summary, refused bool)
	// Finish ends the call, with a failure or without one. One that never began leaves no row.
	Finish(failure *apierror.Error)
}

// Options are what a session needs.
type Options struct {
	Calls Calls
	// Provider is the name of the provider, Asked the model as the client calls it, and Model as the
	// provider does.
	Provider, Asked, Model string
	// Held is the first answer.
	Held Answer
	// Preset is the session that the client secret has, an object; nil for none.
	Preset []byte
	// Shown returns a text of the provider as the client may see it.
	Shown func(string) string

	// Key is whose session it is, and Still reports whether it may still call.
	Key   string
	Still func() bool

	Messages socket.Messages
	Upstream *Upstream
	Sockets  *socket.Sockets
	Logger   *zap.Logger
	Now      func() time.Time
}

// Kind is what is different about these connections.
var Kind = socket.Kind{Option: "realtime", Idle: IdleTime, Rested: &endIdle}

// The ends that only sessions have.
var (
	endIdle     = socket.End{Code: 1000, Reason: "No answer was made in 5 minutes. Open a new session."}
	endRefused  = socket.End{Code: 1008, Reason: "Too many events in a minute were refused."}
	endBroken   = socket.End{Code: 1011, Reason: "The provider broke off the session."}
	endNonsense = socket.End{Code: 1011, Reason: "The provider sent what is no event."}
)

// New returns a session that has opened, for [Session.Run].
func New(conn *wsconn.Text, o Options) *Session {
	now := o.Now()
	return &Session{
		o: o, conn: conn, held: o.Held, running: map[string]*answer{}, begun: now, used: now,
		quiet: make(chan struct{}), served: make(chan struct{}),
	}
}
