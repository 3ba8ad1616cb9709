package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/modelcall"

// serveMessages answers a call of Anthropic's Messages API.
func serveMessages(x *apiRequest) error { return x.Serve(modelcall.Messages, x.api) }

// serveCountTokens answers how many tokens the prompt of such a call has.
func serveCountTokens(x *apiRequest) error { return x.CountTokens(x.api) }
