package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveChat answers a chat completion.
func serveChat(x *Request) error { return x.Call(wire.Chat) }
