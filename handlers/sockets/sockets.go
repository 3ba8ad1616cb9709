// Package sockets has the endpoint of the Responses API over a WebSocket.
package sockets

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/responsesocket"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

var socketEndpoint = &handlers.Operation{Name: "responses_websocket", Method: http.MethodGet, Scope: keys.ChatWrite, Serve: serveSocket}

func init() {
	handlers.Socket(socketEndpoint, func(g handlers.Gateway) bool {
		s := socketsOf(g)
		return s != nil && s.Open.Accepts()
	})
	handlers.Register(handlers.Route{Path: "/v1/responses", API: api.OpenAI{}, Operation: socketEndpoint})
}

// socketsOf returns the sockets of a gateway, nil for one without.
func socketsOf(g handlers.Gateway) *sockets.Sockets {
	s, _ := handlers.Offered[*sockets.Sockets](g)
	return s
}

// serveSocket opens a WebSocket, whose responses are calls of the same key.
func serveSocket(x *handlers.Request) error {
	if err := socket.Check(x.HTTP); err != nil {
		return err
	}
	open, deps, caller := socketsOf(x.Gateway), x.Gateway.Requests(), x.Req.Caller
	o := responsesocket.Options{
		Key:     caller.Tenant + "/" + caller.Name,
		Turn:    turns(x, open),
		Still:   func() bool { return open.MayCall(caller) },
		MaxBody: deps.Limits.Readable(deps.Limits.Of(caller.Key, caller.Limits)),
		Uploads: &deps.Uploads, Write: deps.Write, Logger: deps.Logger, Sockets: open.Open,
	}
	if err := responsesocket.Serve(x.Writer, x.HTTP, o); err != nil {
		return err
	}
	x.Req.Outcome.Succeed(http.StatusSwitchingProtocols)
	return nil
}

// turns returns what serves the responses of the connection of a request. It holds nothing of the
// request, which the connection outlives.
func turns(x *handlers.Request, open *sockets.Sockets) responsesocket.Turn {
	g, family, caller, connection, route := x.Gateway, x.API, x.Req.Caller, x.IDs.RequestID, x.Req.Outcome.Record.Route
	return func(w http.ResponseWriter, r *http.Request, warmUp bool) {
		t := handlers.Turn{Connection: connection}
		if warmUp {
			t.Check = route
		}
		t.Caller, t.Err = open.Caller(caller)
		handlers.ServeTurn(g, family, t, w, r)
	}
}
