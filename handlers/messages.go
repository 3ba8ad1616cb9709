package handlers

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveMessages answers a call of Anthropic's Messages API.
func serveMessages(x *Request) error {
	if atOpenRouters(x) {
		return x.Call(wire.RouterMessages)
	}
	return x.Call(wire.Messages)
}

// serveCountTokens answers how many tokens the prompt of such a call has.
func serveCountTokens(x *Request) error {
	op := wire.CountTokens
	if atOpenRouters(x) {
		op = wire.RouterCountTokens
	}
	return modelcall.CountTokens(x.Gateway.Requests(), x.Req, op, x.API)
}

// atOpenRouters reports whether a path is OpenRouter's.
func atOpenRouters(x *Request) bool { return strings.HasPrefix(x.HTTP.URL.Path, api.OpenRouterPrefix) }
