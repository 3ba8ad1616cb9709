package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// serveChat forwards a chat completion: the caller's own bytes with the few
// edits between them.
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
	if err := x.admit(provider.Chat, req.Model, body, members); err != nil {
		return err
	}
	patch := jsonscan.NewPatch(body, members)
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
