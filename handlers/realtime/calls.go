package realtime

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/realtime"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// calls are the calls of a session. They hold nothing of the request of its handshake, and do not
// change once the session is open.
type calls struct {
	sessions   *sockets.Sessions
	gateway    handlers.Gateway
	api        api.API
	caller     request.Caller
	common     *http.Request // what the requests of the session have in common
	gone       context.CancelFunc
	model      string           // as the client calls it
	connection string           // its id in records
	request    *request.Request // of the session
	live       *modelcall.Live  // of the session
	upstream   *realtime.Upstream
	entered    bool // the session is counted, and has not opened
}

// newCalls begins the request of a session.
func newCalls(x *handlers.Request, caller request.Caller) (*calls, error) {
	model, err := modelOf(x)
	if err != nil {
		return nil, err
	}
	s := &calls{sessions: sessionsOf(x.Gateway), gateway: x.Gateway, api: x.API, caller: caller, model: model, connection: x.IDs.RequestID}
	if s.common, s.gone, err = s.sessions.Handshake(x.HTTP); err != nil {
		return nil, err
	}
	s.request, err = s.begin(routeSession, true, object(model))
	return s, err
}

// object is the body of a request about a model.
func object(model string) []byte {
	body, _ := json.Marshal(map[string]string{"model": model}) // a string has a form
	return body
}

// key is whose session it is.
func (s *calls) key() string { return s.caller.Tenant + "/" + s.caller.Name }

// begin begins a request of the session.
func (s *calls) begin(route string, recorded bool, body []byte) (*request.Request, error) {
	r := s.common.WithContext(s.common.Context()) // a copy
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	t := handlers.Turn{Connection: s.connection}
	t.Caller, t.Err = s.sessions.Caller(s.caller)
	return handlers.Begin(s.gateway, s.api, t, keys.ChatWrite, request.Route{Name: route, Recorded: recorded}, r)
}

// connect connects with the provider, and answers the handshake. An error is a refusal.
func (s *calls) connect(x *handlers.Request) (err error) {
	deps := s.gateway.Requests()
	if err := s.sessions.Open.Enter(s.key()); err != nil {
		return err
	}
	s.entered = true
	s.live, err = modelcall.Connect(deps, s.request, s.api, func(ctx context.Context, handshake http.RoundTripper) (resp *http.Response, err error) {
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
	o := realtime.Options{
		Calls: s, Live: s.live, Held: held, Key: s.key(), Still: func() bool { return s.sessions.MayCall(s.caller) },
		MaxBody: deps.Limits.Readable(deps.Limits.Of(s.caller.Key, s.caller.Limits)), Uploads: &deps.Uploads,
		Upstream: s.upstream, Sockets: s.sessions.Open, Logger: deps.Logger,
	}
	conn := realtime.Accept(x.Writer, x.HTTP, o.MaxBody, deps.Write)
	if conn == nil {
		held.Finish(false, nil)
		s.close(apierror.New(apierror.InvalidValue, "the handshake of the WebSocket was refused"))
		return nil
	}
	session := realtime.New(s.common.Context(), conn, o)
	s.request.SetCancel(session.Abort)
	s.sessions.Open.Add(session)
	go session.Run()
	return nil
}

// close ends a session that has not opened.
func (s *calls) close(failure *apierror.Error) {
	if s.upstream != nil {
		go s.upstream.Close(realtime.NormalClose, "")
	}
	if s.entered {
		s.sessions.Open.Leave(s.key(), nil)
	}
	finish(s.request, failure)
	s.gone()
}

// finish finishes a request, with a failure or without one.
func finish(q *request.Request, failure *apierror.Error) {
	if failure != nil {
		q.Outcome.Fail(failure)
	} else {
		q.Outcome.Succeed(http.StatusOK)
	}
	q.Finish()
}

// Part implements [realtime.Calls].
func (s *calls) Part(body []byte) ([]byte, error) {
	q, err := s.begin(routeSession, false, body)
	if err != nil {
		return nil, err
	}
	edited, err := modelcall.Part(s.gateway.Requests(), q, s.api, s.live.Target())
	if err != nil {
		finish(q, apierror.From(err))
		return nil, err
	}
	q.Outcome.Discard()
	q.Finish()
	return edited, nil
}

// Hold implements [realtime.Calls].
func (s *calls) Hold() (realtime.Call, error) {
	return s.hold(routeAnswer, s.model, func(q *request.Request) (*modelcall.Live, error) {
		return modelcall.Hold(s.gateway.Requests(), q, s.api, s.live.Target())
	})
}

// Owe implements [realtime.Calls].
func (s *calls) Owe() (realtime.Call, error) {
	return s.hold(routeAnswer, s.model, func(q *request.Request) (*modelcall.Live, error) {
		return modelcall.Owe(s.gateway.Requests(), q, s.api, s.live.Target())
	})
}

// HoldTranscript implements [realtime.Calls].
func (s *calls) HoldTranscript(model string) (realtime.Call, error) {
	return s.hold(routeHeard, model, func(q *request.Request) (*modelcall.Live, error) {
		return modelcall.HoldTranscript(s.gateway.Requests(), q, s.api)
	})
}

func (s *calls) hold(route, model string, hold func(*request.Request) (*modelcall.Live, error)) (c realtime.Call, err error) {
	q, err := s.begin(route, false, object(model))
	if err != nil {
		return c, err
	}
	if c.Live, err = hold(q); err != nil {
		finish(q, apierror.From(err))
		return c, err
	}
	c.Finish = func(begun bool, failure *apierror.Error) {
		if q.Outcome.Keep(); !begun {
			q.Outcome.Discard()
		}
		finish(q, failure)
	}
	return c, nil
}

// Finish implements [realtime.Calls].
func (s *calls) Finish(ended string, up, down int64) {
	r := s.request.Outcome.Record
	r.FinishReason, r.RequestBytes, r.AnswerBytes = ended, up, down
	s.request.Outcome.Succeed(http.StatusSwitchingProtocols)
	s.request.Finish()
	s.gone()
}
