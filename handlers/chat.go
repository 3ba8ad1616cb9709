package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/toresponses"
)

// serveChat forwards a chat completion: the caller's own bytes with the few
// edits between them, or translated for a provider that only has the Responses
// API.
func serveChat(x *exchange) error {
	body, members, err := x.readJSON()
	if err != nil {
		return err
	}
	req, err := openai.ParseChat(body, members)
	if err != nil {
		return err
	}
	x.call.Record.Stream = req.Stream
	if body, members, err = x.admit(provider.Chat, req.Model, body, members); err != nil {
		return err
	}
	if x.call.Provider().ResponsesOnly {
		return x.chatTranslated(body, members, req)
	}
	patch := jsonscan.NewPatch(body, members)
	x.capOutput(patch, body, members)
	if err := x.capPrice(patch, body, members); err != nil {
		return err
	}
	openai.UpstreamChat(patch, body, members, req, x.call.UpstreamModel())
	if err := openrouter.UpstreamFields(patch, body, members, req, x.call.Provider().Dialect.OpenRouterFields()); err != nil {
		return err
	}
	upstream := patch.Segments(nil)
	keepMembers(members)

	if req.Stream {
		return x.stream(provider.Chat, upstream, x.family.chatStream(x, req.IncludeUsage))
	}
	return x.answer(provider.Chat, upstream, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		return x.family.chatResult(dst, answer, x)
	})
}

// chatTranslated serves a chat call by the Responses API. The answer becomes a
// chat completion as a provider would send it, and that one the family's own.
func (x *exchange) chatTranslated(body []byte, members []jsonscan.Member, req openai.ChatRequest) error {
	var b jsonscan.Body
	defer b.Release()
	if err := b.Parse(body); err != nil {
		return err
	}
	responses, original, err := toresponses.Request(&b, req.Stream, toresponses.Options{
		UpstreamModel: x.call.UpstreamModel(), MaxOutput: x.outputCap(),
	})
	if err != nil {
		return err
	}
	if responses, err = x.priceCapped(responses, members); err != nil {
		return err
	}
	keepMembers(members)
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
