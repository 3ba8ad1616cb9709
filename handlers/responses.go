package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveResponses answers a Responses call.
func serveResponses(x *apiRequest) error { return x.call(wire.Responses) }

// serveInputTokens answers how many tokens the prompt of such a call has.
func serveInputTokens(x *apiRequest) error {
	return modelcall.CountTokens(x.gateway.Requests(), x.req, wire.InputTokens, x.api)
}
