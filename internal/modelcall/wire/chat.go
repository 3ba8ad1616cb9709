package wire

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// encodeChat sends the caller's own bytes with a few edits.
func encodeChat(e Encoding) (*Sending, error) {
	if e.adapter(chatWire) != nil {
		answer := newChatAnswer(e)
		return e.adapted(chatWire, e.Body, &answer)
	}
	if e.Output > 0 {
		e.Requested.SetOutput(e.Body, e.Provider.MaxTokensField, e.Output)
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	params.EncodeChat(e.Body, e.Asked, e.Model.Name, e.RefusesStreamOptions)
	if err := openrouter.EncodeChatFields(e.Body, e.Asked, e.openRouter()); err != nil {
		return nil, err
	}
	made := &struct { // in one piece
		Sending
		chat chatAnswer
	}{
		Sending{Wire: chatWire, Body: e.Body.Segments(nil), Stream: e.Asked.Stream},
		chatAnswer{e.API.(ChatAPI), e.Pricer, e.Answer},
	}
	made.Answer = &made.chat
	return &made.Sending, nil
}

// chatAnswer is the answer of a provider that has chat completions.
type chatAnswer struct {
	api    ChatAPI
	pricer Pricer
	call   openai.Call
}

// newChatAnswer needs a family that has chat completions: no other one has a route to [Chat].
func newChatAnswer(e Encoding) chatAnswer { return chatAnswer{e.API.(ChatAPI), e.Pricer, e.Answer} }

func (a *chatAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return a.api.ChatResult(dst, body, a.call, a.pricer)
}

func (a *chatAnswer) Stream() openai.Stream { return a.api.ChatStream(a.call, a.pricer) }

// wholeOf turns a chat completion that a translation made of a provider's answer into the caller's
// answer. The summary is the provider's.
func wholeOf(a Answer, dst, chat []byte, sum openai.Summary, err error) ([]byte, openai.Summary, error) {
	if err != nil {
		return dst, sum, err
	}
	out, shown, err := a.Whole(dst, chat)
	if err != nil {
		return out, shown, err
	}
	return out, sum, nil
}

func encodeChatOnResponses(e Encoding) (*Sending, error) {
	body, original, err := chatonresponses.Request(conversation.OfChat(e.Body), e.Asked.Stream, chatonresponses.Options{UpstreamModel: e.Model.Name, MaxOutput: e.Output})
	if err != nil {
		return nil, err
	}
	s, err := e.translated(responsesWire, body, &chatOnResponses{newChatAnswer(e), original})
	if err == nil {
		s.LeftOut = original.LeftOut()
	}
	return s, err
}

// chatOnResponses is the answer of a provider that has only the Responses API.
type chatOnResponses struct {
	chat     chatAnswer
	original *chatonresponses.Original
}

func (a *chatOnResponses) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonresponses.Result(body, a.original, a.chat.call)
	return wholeOf(&a.chat, dst, chat, sum, err)
}

func (a *chatOnResponses) Stream() openai.Stream {
	return chatonresponses.NewStream(a.original, a.chat.call, a.chat.api.ChatStream(a.chat.call, a.chat.pricer))
}
