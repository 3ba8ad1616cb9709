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
// [client] passes on what the client says, [server] what the provider does, and [answers] has the
// calls.
//
// A session has a goroutine for each direction and reads one message at a time in each: a slow peer
// stops the other one.
package realtime

import (
	"context"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	// IdleTime is how long a session stays open without an answer that is made.
	IdleTime = 5 * time.Minute
	// maxRefused is how many events of a client may be refused in a minute.
	maxRefused = 60
	// maxAnswers is how many answers a session may have under way: clients ask for one or two.
	maxAnswers = 8
	// overtime is how long a session that is to end waits for an answer that does not.
	overtime = 5 * time.Minute
	// usageWait is how long the provider has to say what the answers have used that were under way
	// when the client left.
	usageWait = 3 * time.Second
)

// Calls are the calls of a session. They may be used by several goroutines.
type Calls interface {
	// Part returns a part of the session as the provider gets it: an object with a model. The error
	// is a refusal.
	Part(body []byte) ([]byte, error)
	// Hold reserves what the next answer may use. The error is a refusal.
	Hold() (Call, error)
	// Owe is Hold for an answer that has begun though none could be held. No limit refuses it.
	Owe() (Call, error)
	// HoldTranscript is Hold for a transcript of what is said, by a model of the provider.
	HoldTranscript(model string) (Call, error)
	// Finish ends the session, after all its answers.
	Finish(ended string, up, down int64)
}

// Call is an answer or a transcript that is held, and then made.
type Call struct {
	*modelcall.Live
	// Finish ends it, with a failure or without one. One that never began leaves nothing.
	Finish func(begun bool, failure *apierror.Error)
}

// Options are what a session needs.
type Options struct {
	Calls Calls
	// Live is the session, and Held its first answer.
	Live *modelcall.Live
	Held Call
	// Preset is the session that the client secret has, an object; nil for none.
	Preset []byte

	// Key is whose session it is, and Still reports whether it may still call.
	Key   string
	Still func() bool

	// MaxBody bounds an event of the client, in bytes.
	MaxBody  int64
	Uploads  *upload.Config
	Upstream *Upstream
	Sockets  *socket.Sockets
	Logger   *zap.Logger
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

// New returns a session that has opened, for [Session.Run]. Context ends with it.
func New(ctx context.Context, conn *wsconn.Text, o Options) *Session {
	s := &Session{o: o, conn: conn, begun: o.Uploads.Now(), served: make(chan struct{})}
	s.provider, s.asked, s.model = o.Live.Names()
	s.answers = answers{s: s, held: &answer{Call: o.Held}, running: map[string]*answer{}, used: s.begun, quiet: make(chan struct{})}
	s.answers.hangUp = s.hangUp
	s.answers.heard.waiting = map[string]*answer{}
	s.client = client{s: s, messages: socket.Messages{Conn: conn, Uploads: o.Uploads, Max: o.MaxBody, Context: ctx}}
	return s
}

// NormalClose is the code of a close without a fault (RFC 6455, section 7.4.1).
const NormalClose = int(websocket.StatusNormalClosure)

// Subprotocol is what browsers ask for.
const Subprotocol = "realtime"

// Accept answers the handshake of a client. It returns nil if it has refused it.
func Accept(w http.ResponseWriter, r *http.Request, maxBody int64, write time.Duration) *wsconn.Text {
	conn, _ := wsconn.AcceptText(w, r, maxBody, write, Subprotocol)
	return conn
}
