package sockets

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/realtime"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
	"github.com/gatehouse-proxy/gatehouse/internal/wsconn"
)

const (
	realtimePath = "/v1/realtime"
	// realtimeProtocol is the subprotocol that browsers ask for.
	realtimeProtocol = "realtime"
	// routeAnswer and routeHeard name the answers and the transcripts of a session in records.
	routeSession = "GET " + realtimePath
	routeAnswer  = "response " + realtimePath
	routeHeard   = "transcript " + realtimePath
)

var realtimeEndpoint = &handlers.Operation{Name: "realtime", Method: http.MethodGet, Scope: keys.ChatWrite, Recorded: true, Serve: serveRealtime}

func init() {
	handlers.Long(realtimeEndpoint)
	handlers.Socket(realtimeEndpoint, func(g handlers.Gateway) bool {
		s := sessionsOf(g)
		return s != nil && s.Open.Accepts()
	})
	handlers.Register(handlers.Route{Path: realtimePath, API: api.OpenAI{}, Operation: realtimeEndpoint})
}

func sessionsOf(g handlers.Gateway) *sockets.Sessions {
	s, _ := handlers.Offered[*sockets.Sessions](g)
	return s
}

// serveRealtime opens a session, which goes on when it returns.
func serveRealtime(x *handlers.Request) error {
	caller, err := callerOf(x)
	if err != nil { // 401
		x.Unauthenticated(routeSession, err)
		return nil
	}
	s, err := newSession(x, caller)
	if err != nil { // 400 403 429 503
		return err
	}
	if err = s.connect(x); err != nil { // 400 402 403 404 429 502 503
		s.close(apierror.From(err))
	}
	return err
}

// keyProtocol begins the subprotocol with which a browser sends its key: it can set no header.
const keyProtocol = "openai-insecure-api-key."

// callerOf finds the caller by the header of the handshake, or by its subprotocols.
func callerOf(x *handlers.Request) (request.Caller, error) {
	for _, field := range x.HTTP.Header.Values("Sec-Websocket-Protocol") {
		for protocol := range strings.SplitSeq(field, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(protocol), keyProtocol); ok {
				return x.Gateway.Authenticate(key)
			}
		}
	}
	return x.FindCaller()
}

// calls are the calls of a session. They hold nothing of the request of its handshake, and do not
// change once the session is open.
type calls struct {
	sessions *sockets.Sessions
	gateway  handlers.Gateway
	api      api.API
	caller   request.Caller
	common   *http.Request // what the requests of the session have in common
	gone     context.CancelFunc
	model    string            // as the client calls it
	request  *handlers.Request // of the session
	live     modelcall.Live    // of the session
	upstream *realtime.Upstream
	opened   string // the name of the caller, if the session is counted; "" before
}

// newSession begins the request of a session.
func newSession(x *handlers.Request, caller request.Caller) (*calls, error) {
	if err := socket.Check(x.HTTP); err != nil {
		return nil, err
	}
	q, err := x.Query()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"call_id", "intent"} {
		if q.Has(name) {
			return nil, apierror.New(apierror.UnsupportedParameter, "%q is not possible here: open a session with a model", name).WithParam(name)
		}
	}
	s := &calls{sessions: sessionsOf(x.Gateway), gateway: x.Gateway, api: x.API, caller: caller, model: q.Get("model")}
	if s.model == "" {
		return nil, apierror.New(apierror.MissingParameter, "missing required parameter: %q", "model").WithParam("model")
	}
	s.common, s.gone = socket.Detached(x.HTTP)
	s.request, err = s.begin(routeSession, x.IDs.RequestID, true, s.model)
	return s, err
}

// begin opens a request of the session about a model.
func (s *calls) begin(route, connection string, recorded bool, model string) (*handlers.Request, error) {
	return s.beginWith(route, connection, recorded, append(jsonscan.AppendString([]byte(`{"model":`), model), '}'))
}

// beginWith is begin with a body.
func (s *calls) beginWith(route, connection string, recorded bool, body []byte) (*handlers.Request, error) {
	r := s.common.WithContext(s.common.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	t := handlers.Turn{Connection: connection}
	t.Caller, t.Err = s.sessions.Caller(s.caller)
	return handlers.OpenPart(s.gateway, s.api, t, keys.ChatWrite, request.Route{Name: route, Recorded: recorded}, r)
}

// connection is the id of the connection in records.
func (s *calls) connection() string { return s.request.Req.Outcome.Record.Connection }

// connect connects with the provider, and answers the handshake. An error is a refusal.
func (s *calls) connect(x *handlers.Request) (err error) {
	deps, key := s.gateway.Requests(), s.caller.Tenant+"/"+s.caller.Name
	if err := s.sessions.Open.Enter(key); err != nil {
		return err
	}
	s.opened = key
	s.live, err = modelcall.Connect(deps, s.request.Req, s.api, func(ctx context.Context, handshake http.RoundTripper) (resp *http.Response, err error) {
		s.upstream, resp, err = realtime.Connect(ctx, handshake, deps.Write, deps.Answers)
		return resp, err
	})
	if err != nil {
		return err
	}
	held, err := s.Hold()
	if err != nil {
		return err
	}
	max := deps.Limits.Readable(deps.Limits.Of(s.caller.Key, s.caller.Limits))
	conn, _ := wsconn.AcceptText(x.Writer, x.HTTP, max, deps.Write, realtimeProtocol)
	if conn == nil { // it was answered
		held.Finish(nil)
		s.close(nil)
		return nil
	}
	asked, upstream := s.live.Names()
	session := realtime.New(conn, realtime.Options{
		Calls: s, Provider: s.live.Provider(), Asked: asked, Model: upstream, Held: held, Shown: s.live.Shown,
		Key: key, Still: func() bool { return s.sessions.MayCall(s.caller) }, Upstream: s.upstream, Sockets: s.sessions.Open, Logger: deps.Logger, Now: deps.Now,
		Messages: socket.Messages{Conn: conn, Uploads: &deps.Uploads, Max: max, Context: s.common.Context()},
	})
	s.opened = "" // the session leaves
	s.request.Req.SetCancel(session.Abort)
	s.sessions.Open.Add(session)
	go session.Run()
	return nil
}

// close ends a session that has not opened.
func (s *calls) close(failure *apierror.Error) {
	if s.upstream != nil {
		go s.upstream.Close(1000, "")
	}
	if s.opened != "" {
		s.sessions.Open.Leave(s.opened, nil)
	}
	s.request.Done(failure)
	s.gone()
}

// Part implements [realtime.Calls].
func (s *calls) Part(body []byte) ([]byte, error) {
	x, err := s.beginWith(routeSession, s.connection(), false, body)
	if err != nil {
		return nil, err
	}
	edited, err := modelcall.Part(s.gateway.Requests(), x.Req, s.api, s.live.Target())
	if err != nil {
		x.Done(apierror.From(err))
		return nil, err
	}
	x.Discard()
	return edited, nil
}

// Hold implements [realtime.Calls].
func (s *calls) Hold() (realtime.Answer, error) {
	return s.hold(routeAnswer, wire.Realtime, s.model, s.live.Target())
}

// HoldHeard implements [realtime.Calls].
func (s *calls) HoldHeard(model string) (realtime.Answer, error) {
	return s.hold(routeHeard, wire.Heard, model, "")
}

func (s *calls) hold(route string, op *wire.Operation, model, target string) (realtime.Answer, error) {
	x, err := s.begin(route, s.connection(), false, model)
	if err != nil {
		return nil, err
	}
	live, err := modelcall.Hold(s.gateway.Requests(), x.Req, op, s.api, target)
	if err != nil {
		x.Done(apierror.From(err))
		return nil, err
	}
	return &answerCall{Live: live, request: x}, nil
}

// Guarded implements [realtime.Calls].
func (s *calls) Guarded() bool { return s.live.Guarded() }

// Judge implements [realtime.Calls].
func (s *calls) Judge() *guardrail.Stream { return s.live.Judge() }

// Blocked implements [realtime.Calls].
func (s *calls) Blocked(v *guardrail.Verdict) *apierror.Error { return s.live.Blocked(v) }

// Finish implements [realtime.Calls].
func (s *calls) Finish(ended string, up, down int64) {
	r := s.request.Req.Outcome.Record
	r.FinishReason, r.RequestBytes, r.AnswerBytes = ended, up, down
	s.request.Req.Outcome.Succeed(http.StatusSwitchingProtocols)
	s.request.Req.Finish()
	s.gone()
}

// answerCall is the call of an answer or of a transcript.
type answerCall struct {
	modelcall.Live
	request *handlers.Request
	begun   bool
}

// Begin implements [realtime.Answer].
func (a *answerCall) Begin() error {
	a.begun = true
	a.request.Req.Outcome.Keep()
	return a.Live.Begin()
}

// Finish implements [realtime.Answer].
func (a *answerCall) Finish(failure *apierror.Error) {
	if !a.begun {
		a.request.Discard()
		return
	}
	a.request.Done(failure)
}
