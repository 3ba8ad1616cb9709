package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/toresponses"
)

// serveChat forwards a chat completion: the caller's own bytes with the few
// edits between them, or translated for a provider that only has the Responses
// API.
func serveChat(x *exchange) error {
	b, err := x.readJSON()
	if err != nil {
		return err
	}
	req, err := request.ParseChat(b)
	if err != nil {
		return err
	}
	x.call.Record.Stream = req.Stream
	if err := x.admit(provider.Chat, req.Model, b); err != nil {
		return err
	}
	if x.call.Provider().ResponsesOnly {
		return x.chatTranslated(b, req)
	}
	x.capOutput(b)
	if err := x.capPrice(b); err != nil {
		return err
	}
	request.EncodeChat(b, req, x.call.UpstreamModel())
	if err := openrouter.EncodeChatFields(b, req, x.call.Provider().Dialect.OpenRouterFields()); err != nil {
		return err
	}
	upstream := b.Segments(nil)
	b.Release()

	if req.Stream {
		return x.stream(provider.Chat, upstream, x.family.chatStream(x, req.IncludeUsage))
	}
	return x.answer(provider.Chat, upstream, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		return x.family.chatResult(dst, answer, x)
	})
}

// chatTranslated serves a chat call by the Responses API. The answer becomes a
// chat completion as a provider would send it, and that one the family's own.
func (x *exchange) chatTranslated(b *jsonscan.Body, req request.Request) error {
	responses, original, err := toresponses.Request(b, req.Stream, toresponses.Options{
		UpstreamModel: x.call.UpstreamModel(), MaxOutput: x.outputCap(),
	})
	if err != nil {
		return err
	}
	responses = x.priceCapped(responses)
	b.Release()
	upstream := [][]byte{responses}
	if req.Stream {
		return x.stream(provider.Responses, upstream, toresponses.NewStream(original, x.wireCall(), x.family.chatStream(x, req.IncludeUsage)))
	}
	return x.answer(provider.Responses, upstream, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		chat, sum, err := toresponses.Result(answer, original, x.wireCall())
		if err != nil {
			return dst, sum, err
		}
		out, shown, err := x.family.chatResult(dst, chat, x)
		if err != nil {
			return out, shown, err
		}
		return out, sum, nil
	})
}
