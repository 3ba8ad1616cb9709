package wire

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// messagesVersion is the header of a request that the gateway writes for the Messages API.
var messagesVersion = []string{chatonmessages.Version}

// onMessages writes a chat request for a provider that has only the Messages API: for that, or for the
// count of its tokens.
func onMessages(e Encoding, w *Wire, chat *conversation.Request) (*Sending, *chatonmessages.Original, error) {
	m := e.Model
	body, original, err := chatonmessages.Request(chat, e.Asked.Stream, chatonmessages.Options{
		UpstreamModel: m.Name, Origin: e.Provider.Name + "/" + m.Name, Rules: m.MessagesRules(), MaxOutput: e.Output,
	})
	if err != nil {
		return nil, nil, err
	}
	if w == countWire {
		body = chatonmessages.CountRequest(body)
	}
	if e.adapter(w) != nil {
		s, err := e.adaptedBytes(w, body, nil)
		if err == nil {
			s.LeftOut = append(original.LeftOut(), s.LeftOut...)
		}
		return s, original, err
	}
	return &Sending{
		Wire: w, Body: [][]byte{body}, Header: http.Header{anthropic.VersionHeader: messagesVersion}, Stream: e.Asked.Stream,
		LeftOut: original.LeftOut(),
	}, original, nil
}

func encodeChatOnMessages(e Encoding) (*Sending, error) {
	s, original, err := onMessages(e, messagesWire, conversation.OfChat(e.Body))
	if err != nil {
		return nil, err
	}
	s.Answer = &chatOnMessages{newChatAnswer(e), original}
	return s, nil
}

// chatOnMessages is the answer of a provider that has only the Messages API.
type chatOnMessages struct {
	chat     chatAnswer
	original *chatonmessages.Original
}

func (a *chatOnMessages) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonmessages.Result(body, a.original, a.chat.call)
	return wholeOf(&a.chat, dst, chat, sum, err)
}

func (a *chatOnMessages) Stream() openai.Stream {
	return chatonmessages.NewStream(a.original, a.chat.call, a.chat.api.ChatStream(a.chat.call, a.chat.pricer))
}

// encodeResponsesOnMessages writes a Responses request for a provider that has only the Messages API.
func encodeResponsesOnMessages(e Encoding) (*Sending, error) {
	return readResponses(e, func(chat *conversation.Request, asked *responsesonchat.Original) (*Sending, error) {
		s, original, err := onMessages(e, messagesWire, chat)
		if err == nil {
			s.Answer = &responsesOnMessages{responsesOnChat{e.Answer, asked, e.IDs}, original}
		}
		return s, err
	})
}

// encodeInputTokensOnCount writes a request whose tokens a provider counts that has no Responses API.
func encodeInputTokensOnCount(e Encoding) (*Sending, error) {
	return readResponses(e, func(chat *conversation.Request, _ *responsesonchat.Original) (s *Sending, err error) {
		if e.Provider.Has(provider.Messages) {
			s, _, err = onMessages(e, countWire, chat)
		} else {
			s, err = e.adaptedChat(countWire, chat, nil)
		}
		if err == nil {
			s.Answer = countAnswer{e.Answer, inputTokens}
		}
		return s, err
	})
}

// readResponses calls encode with a Responses request for a provider of another API than chat completions.
func readResponses(e Encoding, encode func(*conversation.Request, *responsesonchat.Original) (*Sending, error)) (*Sending, error) {
	chat, asked := responsesonchat.Read(e.Body, responsesonchat.Options{
		UpstreamModel: e.Model.Name, MaxOutput: e.Output, SignedReasoning: true,
		DropUnknownTools: e.Provider.Translate == nil || !e.Provider.Translate.RefuseUnknownTools,
	})
	s, err := encode(chat, asked)
	if err != nil {
		return nil, responsesonchat.CallerError(err)
	}
	for i, field := range s.LeftOut {
		s.LeftOut[i] = responsesonchat.CallerName(field)
	}
	s.DroppedTools = asked.DroppedTools()
	return s, nil
}

// responsesOnMessages is the answer of a provider that has only the Messages API.
type responsesOnMessages struct {
	responses responsesOnChat
	upstream  *chatonmessages.Original
}

func (a *responsesOnMessages) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonmessages.Result(body, a.upstream, a.responses.call)
	return wholeOf(&a.responses, dst, chat, sum, err)
}

func (a *responsesOnMessages) Stream() openai.Stream {
	r := &a.responses
	return chatonmessages.NewStreamTo(a.upstream, r.call, responsesonchat.NewStream(r.original, r.call, r.ids))
}
