package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs that judge texts: vectors, orders and moderations.
func serveEmbeddings(x *Request) error   { return x.Call(wire.Embeddings) }
func serveRerank(x *Request) error       { return x.Call(wire.Rerank) }
func serveRouterRerank(x *Request) error { return x.Call(wire.RouterRerank) }
func serveModerations(x *Request) error  { return x.Call(wire.Moderations) }
