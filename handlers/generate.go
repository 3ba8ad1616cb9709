package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs of Google's SDKs. The path names the model.
func serveGenerate(x *apiRequest) error     { return x.callModel(wire.GenerateContent, wire.Path{}) }
func serveEmbedContent(x *apiRequest) error { return x.callModel(wire.EmbedContent, wire.Path{}) }
func serveBatchEmbedContents(x *apiRequest) error {
	return x.callModel(wire.BatchEmbedContents, wire.Path{})
}

// serveGenerateStream answers with events, or with the whole answer in an array if the query does not ask
// for events: Google streams the elements of that.
func serveGenerateStream(x *apiRequest) error {
	q, err := x.query()
	if err != nil {
		return err
	}
	events := q.Get("alt") == "sse"
	return x.callModel(wire.GenerateContent, wire.Path{Stream: events, Array: !events})
}

// serveCountContent answers how many tokens the prompt of a call has.
func serveCountContent(x *apiRequest) error {
	return modelcall.CountPath(x.gateway.Requests(), x.req, wire.CountContent, x.api, wire.Path{Model: x.name})
}
