package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/modelcall"

// serveChat answers a chat completion.
func serveChat(x *apiRequest) error { return x.Serve(modelcall.Chat, x.api) }
