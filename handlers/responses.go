package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// serveResponses forwards a Responses call to a provider that has the API
// natively; both families have the same shapes here.
func serveResponses(x *exchange) error {
	body, members, err := x.readJSON()
	if err != nil {
		return err
	}
	req, err := openai.ParseResponses(body, members)
	if err != nil {
		return err
	}
	x.call.Record.Stream = req.Stream
	if err := x.admit(provider.Responses, req.Model, body, members); err != nil {
		return err
	}
	patch := jsonscan.NewPatch(body, members)
	openai.UpstreamResponses(patch, body, members, req, x.call.UpstreamModel())
	upstream := patch.Segments(nil)
	keepMembers(members)

	if req.Stream {
		return x.stream(provider.Responses, upstream, openai.NewResponsesStream(x.wireCall()))
	}
	return x.answer(provider.Responses, upstream, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		return openai.ResponsesResult(dst, answer, x.wireCall())
	})
}
