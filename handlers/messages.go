package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveMessages answers a call of Anthropic's Messages API.
func serveMessages(x *apiRequest) error { return x.call(wire.Messages) }

// serveCountTokens answers how many tokens the prompt of such a call has.
func serveCountTokens(x *apiRequest) error {
	return modelcall.CountTokens(x.gateway.Requests(), x.req, wire.CountTokens, x.api)
}
