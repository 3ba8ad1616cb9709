package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs that answer with a list.
func serveImages(x *apiRequest) error       { return x.call(wire.Images) }
func serveRouterImages(x *apiRequest) error { return x.call(wire.RouterImages) }
func serveImageEdits(x *apiRequest) error   { return x.call(wire.ImageEdits) }
func serveEmbeddings(x *apiRequest) error   { return x.call(wire.Embeddings) }
func serveRerank(x *apiRequest) error       { return x.call(wire.Rerank) }
func serveRouterRerank(x *apiRequest) error { return x.call(wire.RouterRerank) }
func serveModerations(x *apiRequest) error  { return x.call(wire.Moderations) }
