package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs of pictures.
func serveImages(x *Request) error       { return x.Call(wire.Images) }
func serveRouterImages(x *Request) error { return x.Call(wire.RouterImages) }
func serveImageEdits(x *Request) error   { return x.Call(wire.ImageEdits) }
