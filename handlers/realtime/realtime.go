// Package realtime has the endpoint of the Realtime API: a session over a WebSocket.
package realtime

import (
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

const (
	path = "/v1/realtime"
	// The routes of a session, its answers and its transcripts in records.
	routeSession = "GET " + path
	routeAnswer  = "response " + path
	routeHeard   = "transcript " + path
)

var endpoint = &handlers.Operation{Name: "realtime", Method: http.MethodGet, Scope: keys.ChatWrite, Recorded: true, Serve: serve}

func init() {
	handlers.Long(endpoint)
	handlers.Socket(endpoint, func(g handlers.Gateway) bool {
		s := sessionsOf(g)
		return s != nil && s.Open.Accepts()
	})
	handlers.Register(handlers.Route{Path: path, API: api.OpenAI{}, Operation: endpoint})
}

// sessionsOf returns the sessions of a gateway, nil for one without.
func sessionsOf(g handlers.Gateway) *sockets.Sessions {
	s, _ := handlers.Offered[*sockets.Sessions](g)
	return s
}

// serve opens a session, which goes on when it returns.
func serve(x *handlers.Request) error {
	caller, err := callerOf(x)
	if err != nil { // 401
		handlers.Unauthenticated(x, routeSession, err)
		return nil
	}
	s, err := newCalls(x, caller)
	if err != nil { // 400 403 503
		return err
	}
	if err = s.connect(x); err != nil { // 400 402 403 404 429 502 503
		s.close(apierror.From(err))
	}
	return err
}

// keyProtocol begins the subprotocol with which a browser sends its key: it can set no header.
const keyProtocol = "openai-insecure-api-key."

// callerOf finds the caller by the subprotocols of the handshake, or by its header.
func callerOf(x *handlers.Request) (request.Caller, error) {
	for _, field := range x.HTTP.Header.Values("Sec-Websocket-Protocol") {
		for protocol := range strings.SplitSeq(field, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(protocol), keyProtocol); ok {
				return x.Gateway.Authenticate(key)
			}
		}
	}
	return handlers.CallerOf(x)
}

// modelOf returns the model that a handshake asks for.
func modelOf(x *handlers.Request) (string, error) {
	q, err := x.Query()
	if err != nil {
		return "", err
	}
	for _, name := range []string{"call_id", "intent"} {
		if q.Has(name) {
			return "", apierror.New(apierror.UnsupportedParameter, "%q is not possible here: open a session with a model", name).WithParam(name)
		}
	}
	if q.Get("model") == "" {
		return "", apierror.New(apierror.MissingParameter, "missing required parameter: %q", "model").WithParam("model")
	}
	return q.Get("model"), nil
}
