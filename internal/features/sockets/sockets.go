// Package sockets is the feature of a gateway that serves the Responses API over WebSockets.
package sockets

import (
	"cmp"
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/responsesocket"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// Sockets are those of a configuration.
type Sockets struct {
	// Open are the open ones.
	Open *responsesocket.Sockets

	callers gateway.Callers
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
	s := &Sockets{callers: c.Callers, Open: responsesocket.NewSockets(process, socket.Limits{
		Most: cmp.Or(limits.Most, responsesocket.DefaultMost), PerKey: cmp.Or(limits.PerKey, responsesocket.DefaultPerKey),
	}, c.Requests.Now)}
	open := metrics.NewGauge("responses_websockets", "Open WebSockets of the Responses API.", nil,
		func(put metrics.Show) { put(float64(s.Open.Open())) })
	return gateway.Feature{
		Offers: s,
		Start: func(ctx context.Context) {
			go s.Open.Watch(ctx)
			go func() {
				<-c.Replaced // each configuration is, at its end
				s.Open.Replaced()
			}()
		},
		Drain:  s.Open.Drain,
		Gauges: []metrics.Collector{open},
	}
}

// Caller returns a caller as its key is now. The error is a refusal: the key is not valid any more.
func (s *Sockets) Caller(was request.Caller) (request.Caller, error) {
	if was.Secret != "" {
		return s.callers.Authenticate(was.Secret)
	}
	return s.callers.CallerOf(was.Tenant, was.Name, was.SecretHash())
}

// MayCall reports whether the key of a caller may make responses.
func (s *Sockets) MayCall(was request.Caller) bool {
	now, err := s.Caller(was)
	if err != nil { // what fails for now says nothing of the key
		return apierror.From(err).HTTPStatus() >= http.StatusInternalServerError
	}
	return now.Has(keys.ChatWrite)
}
