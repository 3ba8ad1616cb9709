package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/modelcall"

// serveEmbeddings answers a request for embeddings.
func serveEmbeddings(x *apiRequest) error { return x.Serve(modelcall.Embeddings, x.api) }
