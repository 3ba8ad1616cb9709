// Package responsesocket serves the Responses API over a WebSocket, as OpenAI has it: a client
// sends response.create events over one connection, and gets the events of each response as text
// frames.
//
//	client                                gateway
//	  |  GET /v1/responses, Upgrade         |  key, scope, limits of connections
//	  |------------------------------------>|
//	  |  {"type":"response.create", …}      |  state + input -> POST /v1/responses
//	  |------------------------------------>|     (a [Turn]: limits, provider, charge, row)
//	  |  {"type":"response.created", …} …   |  each event of its stream is a frame
//	  |<------------------------------------|
//
// The socket is a way of delivery. One response.create is one call, the same as over HTTP: it has
// its own ids, charge and row. What is of the socket is in this package: frames, the conversation
// up to the newest response ([state]), the queue, and the ends.
//
// A connection has a goroutine that reads, and while responses are made another one that runs them
// one after the other. It holds nothing of the handler that has accepted it.
package responsesocket

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	// IdleTime is how long a connection stays open without a response that is made.
	IdleTime = 10 * time.Minute
	// maxQueued is how many events may wait while a response is made: clients send one at a time.
	maxQueued = 4
	// maxSmall is how many events a client may send in a minute that start no response.
	maxSmall = 60
)

// Turn serves one request of POST /v1/responses. A warm-up is only checked: a 200 without a body
// says that it may be a call.
type Turn func(w http.ResponseWriter, r *http.Request, warmUp bool)

// Options are what Serve needs besides the request.
type Options struct {
	Turn Turn
	// Key is whose connection it is, for the limit of connections of a key.
	Key string
	// Still reports whether the key may still call. It is asked each half second.
	Still func() bool
	// MaxBody bounds a frame, and the conversation that is kept, in bytes.
	MaxBody int64
	// Write is how long a client may take nothing of its answer.
	Write   time.Duration
	Uploads *upload.Config
	Logger  *zap.Logger
	// Sockets are the open ones of the configuration.
	Sockets *Sockets
}

// Serve upgrades a request that [socket.Check] allows, and returns. The connection goes on in a
// goroutine of its own. The error is a refusal: nothing was answered.
func Serve(w http.ResponseWriter, r *http.Request, o Options) error {
	if err := o.Sockets.Enter(o.Key); err != nil { // 429 503
		return err
	}
	conn, _ := wsconn.AcceptText(w, r, o.MaxBody, o.Write)
	if conn == nil { // it was answered
		o.Sockets.Leave(o.Key, nil)
		return nil
	}
	s := newConnection(conn, r, o)
	o.Sockets.Add(s)
	go s.run() // a small stack, and nothing of the handler
	return nil
}

// request returns the request of a turn.
func (s *connection) request(body *pieces, size int64) *http.Request {
	r := s.handshake.WithContext(s.handshake.Context())
	r.Header = s.handshake.Header.Clone()
	r.Body, r.ContentLength = body, size
	return r
}
