package handlers

import (
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// serveResponses answers a Responses call.
func serveResponses(x *Request) error { return x.Call(wire.Responses) }

// checkEndpoint is for a call that a WebSocket says it will make. It is in no row of the table.
var checkEndpoint = &Operation{"check", http.MethodPost, keys.ChatWrite, false, checkResponses}

// checkResponses answers 200 without a body to what may be a Responses call.
func checkResponses(x *Request) error {
	err := modelcall.Check(x.Gateway.Requests(), x.Req, wire.Responses, x.API)
	if err == nil {
		x.Req.Outcome.Succeed(http.StatusOK)
		x.Writer.WriteHeader(http.StatusOK)
	}
	return err
}

// serveInputTokens answers how many tokens the prompt of such a call has.
func serveInputTokens(x *Request) error {
	return modelcall.CountTokens(x.Gateway.Requests(), x.Req, wire.InputTokens, x.API)
}

// serveCompact answers with a shorter form of a conversation.
func serveCompact(x *Request) error { return x.Call(wire.Compact) }

// readResponse shows a response that its provider keeps.
func readResponse(x *Request) error {
	return storedResponse(x, wire.ReadResponse, "include", "include[]", "stream")
}

// deleteResponse has the provider delete a response.
func deleteResponse(x *Request) error { return storedResponse(x, wire.DeleteResponse) }

// cancelResponse has the provider end a response that it makes in the background.
func cancelResponse(x *Request) error { return storedResponse(x, wire.CancelResponse) }

// listInputItems lists what a response was made from, in pages.
func listInputItems(x *Request) error {
	return storedResponse(x, wire.InputItems, "include", "include[]", "limit", "order", "after")
}

// storedResponse serves a request about the response that the path names. The provider gets those of
// the known parameters that it has.
func storedResponse(x *Request, op *wire.Operation, known ...string) error {
	q, err := x.StrictQuery(known...)
	if err != nil {
		return err
	}
	for _, p := range storedParameters {
		if q.Has(p.name) {
			if q.Set(p.name, q.Get(p.name)); !p.valid(q.Get(p.name)) { // the first counts, and no other is sent
				return apierror.New(p.code, "%q must be %s", p.name, p.want).WithParam(p.name)
			}
		}
	}
	q.Del("stream")
	path := wire.Path{Response: x.Name, Query: q.Encode()}
	return modelcall.ServeStored(x.Gateway.Requests(), x.Req, op, x.API, path, q.Get("after"))
}

// maxItems is the longest page of items (OpenAI's specification).
const maxItems = 100

// storedParameters are those that have one value.
var storedParameters = []struct {
	name, want string
	code       apierror.Code
	valid      func(value string) bool
}{
	{"limit", "an integer from 1 to " + strconv.Itoa(maxItems), apierror.InvalidValue, func(value string) bool {
		n, err := strconv.Atoi(value)
		return err == nil && n >= 1 && n <= maxItems
	}},
	{"order", "asc or desc", apierror.InvalidValue, func(value string) bool { return value == "asc" || value == "desc" }},
	{"after", "the id of an item", apierror.InvalidValue, func(value string) bool { return value != "" }},
	{"stream", "false: only a response that is made in the background can be streamed again", apierror.UnsupportedParameter, func(value string) bool {
		return value == "false"
	}},
}
