package handlers

import (
	"crypto/rand"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/tochat"
)

// serveResponses forwards a Responses call as it is to a provider that has the
// API, and translated to one that only has chat completions. Both families
// have the same shapes here.
func serveResponses(x *exchange) error {
	b, err := x.readJSON()
	if err != nil {
		return err
	}
	req, err := request.ParseResponses(b)
	if err != nil {
		return err
	}
	x.call.Record.Stream = req.Stream
	if err := x.admit(provider.Responses, req.Model, b); err != nil {
		return err
	}
	if x.call.Provider().Translate != nil {
		return x.translated(b, req)
	}
	x.capOutput(b)
	if err := x.capPrice(b); err != nil {
		return err
	}
	request.EncodeResponses(b, req, x.call.UpstreamModel())
	if err := openrouter.EncodeResponsesFields(b, x.call.Provider().Dialect.OpenRouterFields()); err != nil {
		return err
	}
	upstream := b.Segments(nil)
	b.Release()

	if req.Stream {
		return x.stream(provider.Responses, upstream, openai.NewResponsesStream(x.wireCall()))
	}
	return x.answer(provider.Responses, upstream, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		return openai.ResponsesResult(dst, answer, x.wireCall())
	})
}

// translated serves a Responses call by chat completions.
func (x *exchange) translated(b *jsonscan.Body, req request.Request) error {
	how := x.call.Provider().Translate
	chat, original, err := tochat.Request(b, req.Stream, tochat.Options{
		UpstreamModel: x.call.UpstreamModel(), MaxOutput: x.outputCap(), MaxTokensField: x.call.Provider().MaxTokensField,
		DeveloperRole: how.DeveloperRole, ReasoningContent: how.ReasoningContent,
	})
	if err != nil {
		return err
	}
	chat = x.priceCapped(chat)
	b.Release()
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
