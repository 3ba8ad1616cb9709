package modelcall

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// chatOfMessages translates a Messages request to a chat request.
func chatOfMessages(e encoding, opt messagesonchat.Options) ([]byte, *messagesFromChat, error) {
	p, m := e.target.provider, e.target.model
	opt.UpstreamModel, opt.Version = m.Name, e.inbound.Get(anthropic.VersionHeader)
	opt.MaxOutput = e.output
	opt.InputTokens = likelyPrompt(int64(len(e.body.Data())), params.ContentOf(e.body), 0)
	opt.OpenRouter = e.openRouter()
	if known := m.SupportedParameters; len(known) > 0 {
		opt.Reasons = slices.Contains(known, "reasoning") || slices.Contains(known, "reasoning_effort")
		opt.NoReasoning = !opt.Reasons
	}
	opt.ReasoningContent = p.Translate != nil && p.Translate.ReasoningContent
	if stated := m.Capabilities; stated != nil { // in a catalog file; the table is of Anthropic's own API
		opt.Efforts, opt.Prefill = stated.Efforts, stated.Prefill
	}
	body, original, err := messagesonchat.Request(e.body, e.asked.Stream, opt)
	if err != nil {
		return nil, nil, err
	}
	return body, &messagesFromChat{e.answer, original, e.ids.message()}, nil
}

func encodeMessagesAsChat(e encoding) (*sending, error) {
	body, answer, err := chatOfMessages(e, messagesonchat.Options{MaxTokensField: e.target.provider.MaxTokensField})
	if err != nil {
		return nil, err
	}
	return e.translated(provider.Chat, body, answer)
}

// translated is a translated request, with the preferences that OpenRouter gets for its upstreams.
func (e *encoding) translated(op provider.Operation, body []byte, a answer) (*sending, error) {
	body, err := e.appendPreferences(body)
	if err != nil {
		return nil, err
	}
	return &sending{operation: op, body: [][]byte{body}, stream: e.asked.Stream, answer: a}, nil
}

// messagesFromChat is the answer of a provider that has chat completions.
type messagesFromChat struct {
	call     openai.Call
	original *messagesonchat.Original
	id       string
}

func (a *messagesFromChat) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return messagesonchat.Result(dst, body, a.original, a.call, a.id)
}

func (a *messagesFromChat) stream() openai.Stream {
	return messagesonchat.NewStream(a.original, a.call, a.id)
}

// encodeMessagesAsResponses translates the chat request that a Messages request becomes once more.
func encodeMessagesAsResponses(e encoding) (*sending, error) {
	chat, answer, err := chatOfMessages(e, messagesonchat.Options{Responses: true})
	if err != nil {
		return nil, err
	}
	var b jsonscan.Body
	defer b.Release()
	if err := b.Parse(chat); err != nil {
		return nil, err // the gateway's own fault
	}
	body, original, err := chatonresponses.Request(&b, e.asked.Stream, chatonresponses.Options{UpstreamModel: e.target.model.Name})
	if err != nil {
		return nil, err
	}
	s, err := e.translated(provider.Responses, body, &messagesFromResponses{*answer, original})
	if err == nil {
		s.leftOut = original.LeftOut()
	}
	return s, err
}

// messagesFromResponses is the answer of a provider that has only the Responses API.
type messagesFromResponses struct {
	messagesFromChat
	responses *chatonresponses.Original
}

func (a *messagesFromResponses) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonresponses.Result(body, a.responses, a.call)
	if err != nil {
		return dst, sum, err
	}
	a.call.StopSequence = sum.StopSequence
	out, shown, err := a.messagesFromChat.whole(dst, chat)
	if err != nil {
		return out, shown, err
	}
	return out, sum, nil
}

func (a *messagesFromResponses) stream() openai.Stream {
	return chatonresponses.NewStream(a.responses, a.call, messagesonchat.NewStream(a.original, a.call, a.id))
}
