package handlers

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// usualMembers is how many members a request has room for without allocating.
const usualMembers = 40

// serveChat forwards a chat completion: the caller's own bytes with the few
// edits between them.
func serveChat(x *exchange) error {
	body, err := x.call.ReadBody(x.w, x.r)
	if err != nil {
		return err
	}
	members, err := parse(body, make([]jsonscan.Member, 0, usualMembers))
	if err != nil {
		return err
	}
	req, err := openai.ParseChat(body, members)
	if err != nil {
		return err
	}
	x.call.Record.Stream = req.Stream
	if err := x.call.Admit(provider.Chat, req.Model); err != nil {
		return err
	}
	if err := x.call.AdmitState(x.r.Context(), body, members); err != nil {
		return err
	}
	patch := jsonscan.NewPatch(body, members)
	openai.UpstreamChat(patch, body, members, req, x.call.UpstreamModel())
	if err := openrouter.UpstreamFields(patch, body, members, req, x.call.Provider().Dialect.OpenRouterFields()); err != nil {
		return err
	}
	upstream := patch.Segments(nil)

	if req.Stream {
		return x.stream(provider.Chat, upstream, x.family.chatStream(x, req.IncludeUsage))
	}
	return x.answer(provider.Chat, upstream, func(dst, answer []byte) ([]byte, openai.Summary, error) {
		return x.family.chatResult(dst, answer, x)
	})
}

// parse walks the body once.
func parse(body []byte, room []jsonscan.Member) ([]jsonscan.Member, error) {
	members, err := jsonscan.Strict(body, room)
	if err == nil {
		return members, nil
	}
	refusal := fault.New(fault.InvalidJSON, "the request body is not acceptable JSON: %v", err)
	var syntax *jsonscan.SyntaxError
	if errors.As(err, &syntax) && syntax.Key != "" {
		refusal.Param = syntax.Key
	}
	return nil, refusal
}
