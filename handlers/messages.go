package handlers

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveMessages answers a call of Anthropic's Messages API.
func serveMessages(x *apiRequest) error {
	if atOpenRouters(x) {
		return x.call(wire.RouterMessages)
	}
	return x.call(wire.Messages)
}

// serveCountTokens answers how many tokens the prompt of such a call has.
func serveCountTokens(x *apiRequest) error {
	op := wire.CountTokens
	if atOpenRouters(x) {
		op = wire.RouterCountTokens
	}
	return modelcall.CountTokens(x.gateway.Requests(), x.req, op, x.api)
}

// atOpenRouters reports whether a path is OpenRouter's.
func atOpenRouters(x *apiRequest) bool { return strings.HasPrefix(x.r.URL.Path, api.OpenRouterPrefix) }
