package wire

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// messagesOptions returns what the translation of a Messages request depends on.
func messagesOptions(e *Encoding, opt messagesonchat.Options) (messagesonchat.Options, error) {
	p, m := e.Provider, e.Model
	opt.UpstreamModel, opt.Version = m.Name, e.Caller.Header.Get(anthropic.VersionHeader)
	opt.MaxOutput = e.Output
	opt.InputTokens = params.ContentOf(e.Body).LikelyTokens(int64(len(e.Body.Data())), 0)
	opt.OpenRouter = e.openRouter()
	opt.Chat.Cache, opt.Chat.Links, opt.Chat.ReasoningContent = opt.OpenRouter, opt.OpenRouter, p.Translate.ReasoningContent
	if known := m.SupportedParameters; len(known) > 0 {
		opt.Reasons = slices.Contains(known, "reasoning") || slices.Contains(known, "reasoning_effort")
		opt.NoReasoning = !opt.Reasons
	}
	if stated := m.Capabilities; stated != nil { // in a catalog file; the table is of Anthropic's own API
		opt.Efforts, opt.Prefill = stated.Efforts, stated.Prefill
	}
	return opt, checkKnownVersion(e.Caller.Header)
}

// encodeMessagesOnChat writes a Messages request for a provider that has chat completions, or that an
// adapter makes look so.
func encodeMessagesOnChat(e Encoding) (*Sending, error) {
	adapted := e.adapter(chatWire) != nil
	opt, err := messagesOptions(&e, messagesonchat.Options{MaxTokensField: e.Provider.MaxTokensField, SignedReasoning: adapted})
	if err != nil {
		return nil, err
	}
	answer := &messagesOnChat{call: e.Answer, id: e.IDs.message()}
	if adapted {
		chat, original := messagesonchat.Read(e.Body, opt)
		answer.original = original
		return e.adaptedChat(chatWire, chat, answer)
	}
	body, original, err := messagesonchat.Request(e.Body, e.Asked.Stream, opt)
	if err != nil {
		return nil, err
	}
	answer.original = original
	return e.translated(chatWire, body, answer)
}

// messagesOnChat is the answer of a provider that has chat completions.
type messagesOnChat struct {
	call     openai.Call
	original *messagesonchat.Original
	id       string
}

func (a *messagesOnChat) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return messagesonchat.Result(dst, body, a.original, a.call, a.id)
}

func (a *messagesOnChat) Stream() openai.Stream {
	return messagesonchat.NewStream(a.original, a.call, a.id)
}

// encodeMessagesOnResponses writes a Messages request for a provider that has only the Responses API.
func encodeMessagesOnResponses(e Encoding) (*Sending, error) {
	opt, err := messagesOptions(&e, messagesonchat.Options{Responses: true})
	if err != nil {
		return nil, err
	}
	chat, asked := messagesonchat.Read(e.Body, opt)
	body, original, err := chatonresponses.Request(chat, e.Asked.Stream, chatonresponses.Options{UpstreamModel: e.Model.Name})
	if err != nil {
		return nil, err
	}
	s, err := e.translated(responsesWire, body, &messagesOnResponses{messagesOnChat{e.Answer, asked, e.IDs.message()}, original})
	if err == nil {
		s.LeftOut = original.LeftOut()
	}
	return s, err
}

// messagesOnResponses is the answer of a provider that has only the Responses API.
type messagesOnResponses struct {
	messages messagesOnChat
	upstream *chatonresponses.Original
}

func (a *messagesOnResponses) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	m := &a.messages
	chat, sum, err := chatonresponses.Result(body, a.upstream, m.call)
	m.call.StopSequence = sum.StopSequence
	return wholeOf(m, dst, chat, sum, err)
}

func (a *messagesOnResponses) Stream() openai.Stream {
	return chatonresponses.NewStreamTo(a.upstream, a.messages.call, messagesonchat.NewStream(a.messages.original, a.messages.call, a.messages.id))
}
