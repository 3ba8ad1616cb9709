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
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	// IdleTime is how long a connection stays open without a response that is made.
	IdleTime = 10 * time.Minute
	// LifeTime is when a connection ends that is idle, and LongestLife when one ends after its
	// turn: OpenAI ends them after an hour.
	LifeTime    = 55 * time.Minute
	LongestLife = time.Hour
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

// Serve upgrades a request that [Check] allows, and returns. The connection goes on in a goroutine
// of its own. The error is a refusal: nothing was answered.
func Serve(w http.ResponseWriter, r *http.Request, o Options) error {
	if err := o.Sockets.enter(o.Key); err != nil { // 429 503
		return err
	}
	conn, _ := wsconn.AcceptText(w, r, o.MaxBody, o.Write)
	if conn == nil { // it was answered
		o.Sockets.leave(o.Key, nil)
		return nil
	}
	s := newSocket(conn, r, o)
	o.Sockets.add(s)
	go s.run() // a small stack, and nothing of the handler
	return nil
}

// Check refuses a handshake that is none, as [wsconn] would in plain text.
func Check(r *http.Request) error {
	const version = "13" // RFC 6455, section 4.1
	upgrades := slices.ContainsFunc(strings.Split(strings.Join(r.Header.Values("Connection"), ","), ","), func(option string) bool {
		return strings.EqualFold(strings.TrimSpace(option), "upgrade")
	})
	if !upgrades || r.Header.Get("Sec-Websocket-Version") != version || len(r.Header.Get("Sec-Websocket-Key")) != 24 {
		return apierror.New(apierror.InvalidValue,
			"the handshake of the WebSocket is not of RFC 6455: want Connection: Upgrade, Sec-WebSocket-Version 13 and a Sec-WebSocket-Key")
	}
	return nil
}

// ofHandshake returns what the requests of turns have in common with that of the handshake, without
// what is of the upgrade.
func ofHandshake(r *http.Request) *http.Request {
	h := r.Header.Clone()
	for name := range h {
		if strings.HasPrefix(name, "Sec-Websocket-") {
			delete(h, name)
		}
	}
	h.Del("Upgrade")
	h.Del("Connection")
	h.Set("Content-Type", "application/json")
	at := *r.URL
	return &http.Request{
		Method: http.MethodPost, URL: &at, Proto: r.Proto, ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Host: r.Host, RemoteAddr: r.RemoteAddr, RequestURI: r.RequestURI,
	}
}

// request returns the request of a turn.
func (s *socket) request(body *pieces, size int64) *http.Request {
	r := s.handshake.WithContext(s.ctx)
	r.Header = s.handshake.Header.Clone()
	r.Body, r.ContentLength = body, size
	return r
}
