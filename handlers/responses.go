package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveResponses answers a Responses call.
func serveResponses(x *apiRequest) error { return x.call(wire.Responses) }
