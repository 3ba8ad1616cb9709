package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveChat answers a chat completion.
func serveChat(x *apiRequest) error { return x.call(wire.Chat) }
