package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveEmbeddings answers a request for embeddings.
func serveEmbeddings(x *apiRequest) error { return x.call(wire.Embeddings) }
