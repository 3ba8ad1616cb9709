package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveCompletions answers a call of OpenAI's older API, which continues a text.
func serveCompletions(x *Request) error { return x.Call(wire.Completions) }
