package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/modelcall"

// serveResponses answers a Responses call.
func serveResponses(x *apiRequest) error { return x.Serve(modelcall.Responses, x.api) }
