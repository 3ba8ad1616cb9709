package wire

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// chatOfMessages translates a Messages request to a chat request.
func chatOfMessages(e Encoding, opt messagesonchat.Options) ([]byte, *messagesOnChat, error) {
	if err := checkKnownVersion(e.Caller.Header); err != nil {
		return nil, nil, err
	}
	p, m := e.Provider, e.Model
	opt.UpstreamModel, opt.Version = m.Name, e.Caller.Header.Get(anthropic.VersionHeader)
	opt.MaxOutput = e.Output
	opt.InputTokens = params.ContentOf(e.Body).LikelyTokens(int64(len(e.Body.Data())), 0)
	opt.OpenRouter = e.openRouter()
	if known := m.SupportedParameters; len(known) > 0 {
		opt.Reasons = slices.Contains(known, "reasoning") || slices.Contains(known, "reasoning_effort")
		opt.NoReasoning = !opt.Reasons
	}
	opt.ReasoningContent = p.Translate.ReasoningContent
	if stated := m.Capabilities; stated != nil { // in a catalog file; the table is of Anthropic's own API
		opt.Efforts, opt.Prefill = stated.Efforts, stated.Prefill
	}
	body, original, err := messagesonchat.Request(e.Body, e.Asked.Stream, opt)
	if err != nil {
		return nil, nil, err
	}
	return body, &messagesOnChat{e.Answer, original, e.IDs.message()}, nil
}

func encodeMessagesOnChat(e Encoding) (*Sending, error) {
	adapted := e.adapter(chatWire) != nil
	opt := messagesonchat.Options{
		MaxTokensField: e.Provider.MaxTokensField, ToolParts: adapted, FileURLs: adapted, SignedReasoning: adapted,
	}
	body, answer, err := chatOfMessages(e, opt)
	if err != nil {
		return nil, err
	}
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

// encodeMessagesOnResponses translates the chat request that a Messages request becomes once more.
func encodeMessagesOnResponses(e Encoding) (*Sending, error) {
	chat, answer, err := chatOfMessages(e, messagesonchat.Options{Responses: true, ToolParts: true})
	if err != nil {
		return nil, err
	}
	b := jsonscan.Body{Own: true}
	defer b.Release()
	if err := b.Parse(chat); err != nil {
		return nil, err // the gateway's own fault
	}
	body, original, err := chatonresponses.Request(&b, e.Asked.Stream, chatonresponses.Options{UpstreamModel: e.Model.Name})
	if err != nil {
		return nil, err
	}
	s, err := e.translated(responsesWire, body, &messagesOnResponses{*answer, original})
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
