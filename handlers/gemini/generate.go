package gemini

import (
	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs of Google's SDKs. The path names the model.
func serveGenerate(x *handlers.Request) error     { return x.CallModel(wire.GenerateContent, wire.Path{}) }
func serveEmbedContent(x *handlers.Request) error { return x.CallModel(wire.EmbedContent, wire.Path{}) }
func serveBatchEmbedContents(x *handlers.Request) error {
	return x.CallModel(wire.BatchEmbedContents, wire.Path{})
}

// serveGenerateStream answers with events, or with the whole answer in an array if the query does
// not ask for events: Google streams the elements of that.
func serveGenerateStream(x *handlers.Request) error {
	q, err := x.Query()
	if err != nil {
		return err
	}
	events := q.Get("alt") == "sse"
	return x.CallModel(wire.GenerateContent, wire.Path{Stream: events, Array: !events})
}

// serveCountContent answers how many tokens the prompt of a call has.
func serveCountContent(x *handlers.Request) error {
	return modelcall.CountPath(x.Gateway.Requests(), x.Req, wire.CountContent, x.API, wire.Path{Model: x.Name})
}
