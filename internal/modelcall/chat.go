package modelcall

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

// chat is chat completions: the caller's own bytes with a few edits, or translated for a provider
// that has only the Responses API or the Messages API.
type chat struct{}

func (chat) kind() provider.Operation { return provider.Chat }
func (chat) messages() string         { return "messages" }

func (chat) parse(b *jsonscan.Body, _ http.Header) (params.Request, error) {
	return params.ParseChat(b)
}

func (chat) requestedLimits(b *jsonscan.Body) (params.RequestedLimits, error) {
	return params.ChatLimits(b)
}

func (chat) references(b *jsonscan.Body) (params.Refs, error) { return params.References(b) }

func (chat) heartbeat(http.Header) heartbeat { return heartbeat{} }

func (chat) encode(e encoding) (*sending, error) {
	switch e.target.operation {
	case provider.Responses:
		return encodeChatAsResponses(e)
	case provider.Messages:
		return encodeChatAsMessages(e)
	}
	if e.output > 0 {
		e.requested.SetOutput(e.body, e.target.provider.MaxTokensField, e.output)
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	params.EncodeChat(e.body, e.asked, e.target.model.Name)
	if err := openrouter.EncodeChatFields(e.body, e.asked, e.openRouter()); err != nil {
		return nil, err
	}
	made := &struct { // in one piece
		sending
		chat chatAnswer
	}{
		sending{operation: provider.Chat, body: e.body.Segments(nil), stream: e.asked.Stream},
		chatAnswer{e.api.(ChatAPI), e.pricer, e.answer},
	}
	made.answer = &made.chat
	return &made.sending, nil
}

// chatAnswer is the answer of a provider that has chat completions.
type chatAnswer struct {
	api    ChatAPI
	pricer Pricer
	call   openai.Call
}

// newChatAnswer needs a family that has chat completions: only such a one has a route to [Chat].
func newChatAnswer(e encoding) *chatAnswer { return &chatAnswer{e.api.(ChatAPI), e.pricer, e.answer} }

func (a *chatAnswer) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return a.api.ChatResult(dst, body, a.call, a.pricer)
}

// wholeOf is whole for a chat completion that a translation made of a provider's answer. The summary is
// that of the provider's.
func (a *chatAnswer) wholeOf(dst, chat []byte, sum openai.Summary, err error) ([]byte, openai.Summary, error) {
	if err != nil {
		return dst, sum, err
	}
	out, shown, err := a.whole(dst, chat)
	if err != nil {
		return out, shown, err
	}
	return out, sum, nil
}

func (a *chatAnswer) stream() openai.Stream { return a.api.ChatStream(a.call, a.pricer) }

func encodeChatAsResponses(e encoding) (*sending, error) {
	body, original, err := chatonresponses.Request(e.body, e.asked.Stream, chatonresponses.Options{UpstreamModel: e.target.model.Name, MaxOutput: e.output})
	if err != nil {
		return nil, err
	}
	if body, err = e.appendPreferences(body); err != nil {
		return nil, err
	}
	return &sending{
		operation: provider.Responses, body: [][]byte{body}, stream: e.asked.Stream, leftOut: original.LeftOut(),
		answer: &chatFromResponses{*newChatAnswer(e), original},
	}, nil
}

// chatFromResponses is the answer of a provider that has only the Responses API.
type chatFromResponses struct {
	chatAnswer
	original *chatonresponses.Original
}

func (a *chatFromResponses) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonresponses.Result(body, a.original, a.call)
	return a.wholeOf(dst, chat, sum, err)
}

func (a *chatFromResponses) stream() openai.Stream {
	return chatonresponses.NewStream(a.original, a.call, a.api.ChatStream(a.call, a.pricer))
}
