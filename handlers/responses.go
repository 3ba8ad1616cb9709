package handlers

import (
	"crypto/rand"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/tochat"
)

// serveResponses forwards a Responses call as it is to a provider that has the
// API, and translated to one that only has chat completions. Both families
// have the same shapes here.
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
	if body, members, err = x.admit(provider.Responses, req.Model, body, members); err != nil {
		return err
	}
	if x.call.Provider().Translate != nil {
		return x.translated(body, members, req)
	}
	patch := jsonscan.NewPatch(body, members)
	x.capOutput(patch, body, members)
	if err := x.capPrice(patch, body, members); err != nil {
		return err
	}
	openai.UpstreamResponses(patch, body, members, req, x.call.UpstreamModel())
	if err := openrouter.UpstreamResponsesFields(patch, body, members, x.call.Provider().Dialect.OpenRouterFields()); err != nil {
		return err
	}
	upstream := patch.Segments(nil)
	keepMembers(members)

	if req.Stream {
		return x.stream(provider.Responses, upstream, openai.NewResponsesStream(x.wireCall()))
	}
	return x.answer(provider.Responses, upstream, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		return openai.ResponsesResult(dst, answer, x.wireCall())
	})
}

// translated serves a Responses call by chat completions.
func (x *exchange) translated(body []byte, members []jsonscan.Member, req openai.ResponsesRequest) error {
	var b jsonscan.Body
	defer b.Release()
	if err := b.Parse(body); err != nil {
		return err
	}
	how := x.call.Provider().Translate
	chat, original, err := tochat.Request(&b, req.Stream, tochat.Options{
		UpstreamModel: x.call.UpstreamModel(), MaxOutput: x.outputCap(), MaxTokensField: x.call.Provider().MaxTokensField,
		DeveloperRole: how.DeveloperRole, ReasoningContent: how.ReasoningContent,
	})
	if err != nil {
		return err
	}
	if chat, err = x.priceCapped(chat, members); err != nil {
		return err
	}
	keepMembers(members)
	if req.Stream {
		return x.stream(provider.Chat, [][]byte{chat}, tochat.NewStream(original, x.wireCall(), responseIDs{x}))
	}
	return x.answer(provider.Chat, [][]byte{chat}, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		return tochat.Result(dst, answer, original, x.wireCall(), responseIDs{x})
	})
}

// responseIDs names what a translated answer has and a chat completion has not.
type responseIDs struct{ x *exchange }

const (
	requestPrefix  = "req_"
	responsePrefix = "resp_"
)

// NewID names the response after the request, so that the activity finds it by
// the only id that a client of such an answer sees.
func (ids responseIDs) NewID(prefix string) string {
	if prefix+"_" == responsePrefix {
		return responsePrefix + strings.TrimPrefix(ids.x.ids.RequestID, requestPrefix)
	}
	return prefix + "_" + strings.ToLower(rand.Text())
}

func (ids responseIDs) Unix() int64 { return ids.x.call.Record.CreatedAt.Unix() }

// requestOf is the request after which a translated response is named.
func requestOf(responseID string) (requestID string, ok bool) {
	rest, ok := strings.CutPrefix(responseID, responsePrefix)
	return requestPrefix + rest, ok
}
