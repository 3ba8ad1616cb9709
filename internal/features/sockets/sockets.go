// Package sockets has the features of a gateway that serve the Responses API and the Realtime API
// over WebSockets.
package sockets

import (
	"cmp"
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/realtime"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/responsesocket"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// Sockets are those of the Responses API of a configuration.
type Sockets struct {
	Callers
	// Open are the open ones.
	Open *responsesocket.Sockets
}

// Sessions are the Realtime sessions of a configuration.
type Sessions struct {
	Callers
	// Open are the open ones.
	Open *socket.Sockets
}

// Limits bound the connections. Where one is 0 the default counts.
type Limits struct {
	Most   int // of all keys; default 1000
	PerKey int // of one key; default 10
}

// Feature lets Responses come over WebSockets, within limits; nil: none can.
func Feature(c gateway.Core, limits *Limits) gateway.Feature {
	if limits == nil {
		return gateway.Feature{Offers: (*Sockets)(nil)}
	}
	process := gateway.Kept(c.Slots, responsesocket.NewProcess)
	s := &Sockets{Callers{c.Callers}, responsesocket.NewSockets(process, limits.orDefault(), c.Requests.Now)}
	return feature(c, s, s.Open.Sockets, "responses_websockets", "Open WebSockets of the Responses API.")
}

// sessions are what the sessions of a process have in common.
type sessions struct{ *socket.Process }

// Realtime lets Realtime sessions open, within limits; nil: none can.
func Realtime(c gateway.Core, limits *Limits) gateway.Feature {
	if limits == nil {
		return gateway.Feature{Offers: (*Sessions)(nil)}
	}
	process := gateway.Kept(c.Slots, func() sessions { return sessions{socket.NewProcess()} })
	s := &Sessions{Callers{c.Callers}, socket.NewSockets(process.Process, realtime.Kind, limits.orDefault(), c.Requests.Now)}
	return feature(c, s, s.Open, "realtime_sessions", "Open Realtime sessions.")
}

// Handshake checks the handshake of a session. It returns what the requests of the session have in
// common; gone ends their context.
func (*Sessions) Handshake(r *http.Request) (common *http.Request, gone context.CancelFunc, err error) {
	if err := socket.Check(r); err != nil {
		return nil, nil, err
	}
	common, gone = socket.Detached(r)
	return common, gone, nil
}

// orDefault returns the limits that count.
func (l *Limits) orDefault() socket.Limits {
	return socket.Limits{Most: cmp.Or(l.Most, responsesocket.DefaultMost), PerKey: cmp.Or(l.PerKey, responsesocket.DefaultPerKey)}
}

// feature is what connections of both kinds are to a gateway.
func feature(c gateway.Core, offers any, open *socket.Sockets, gauge, help string) gateway.Feature {
	return gateway.Feature{
		Offers: offers,
		Start: func(ctx context.Context) {
			go open.Watch(ctx)
			go func() {
				<-c.Replaced // each configuration is, at its end
				open.Replaced()
			}()
		},
		Drain:  open.Drain,
		Gauges: []metrics.Collector{metrics.NewGauge(gauge, help, nil, func(put metrics.Show) { put(float64(open.Open())) })},
	}
}

// Callers know the callers of connections.
type Callers struct{ callers gateway.Callers }

// Caller returns a caller as its key is now. The error is a refusal: the key is not valid any more.
func (s Callers) Caller(was request.Caller) (request.Caller, error) {
	if was.Secret != "" {
		return s.callers.Authenticate(was.Secret)
	}
	return s.callers.CallerOf(was.Tenant, was.Name, was.SecretHash())
}

// MayCall reports whether the key of a caller may make responses.
func (s Callers) MayCall(was request.Caller) bool {
	now, err := s.Caller(was)
	if err != nil { // what fails for now says nothing of the key
		return apierror.From(err).HTTPStatus() >= http.StatusInternalServerError
	}
	return now.Has(keys.ChatWrite)
}
