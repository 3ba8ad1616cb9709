package modelcall

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// messagesVersion is the header of a request that the gateway writes for the Messages API.
var messagesVersion = []string{chatonmessages.Version}

// asMessages writes a chat request for a provider that has only the Messages API.
func asMessages(e encoding, chat *jsonscan.Body) (*sending, *chatonmessages.Original, error) {
	t := e.target
	body, original, err := chatonmessages.Request(chat, e.asked.Stream, chatonmessages.Options{
		UpstreamModel: t.model.Name, Origin: t.provider.Name + "/" + t.model.Name, Rules: t.model.MessagesRules(), MaxOutput: e.output,
	})
	if err != nil {
		return nil, nil, err
	}
	return &sending{
		operation: provider.Messages, body: [][]byte{body}, header: http.Header{"Anthropic-Version": messagesVersion}, stream: e.asked.Stream,
		leftOut: original.LeftOut(),
	}, original, nil
}

func encodeChatAsMessages(e encoding) (*sending, error) {
	s, original, err := asMessages(e, e.body)
	if err != nil {
		return nil, err
	}
	s.answer = &chatFromMessages{*newChatAnswer(e), original}
	return s, nil
}

// chatFromMessages is the answer of a provider that has only the Messages API.
type chatFromMessages struct {
	chatAnswer
	original *chatonmessages.Original
}

func (a *chatFromMessages) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonmessages.Result(body, a.original, a.call)
	return a.wholeOf(dst, chat, sum, err)
}

func (a *chatFromMessages) stream() openai.Stream {
	return chatonmessages.NewStream(a.original, a.call, a.api.ChatStream(a.call, a.pricer))
}

// encodeResponsesAsMessages translates twice, with a chat request between the two APIs.
func encodeResponsesAsMessages(e encoding) (*sending, error) {
	chat, asked, err := responsesonchat.Request(e.body, e.asked.Stream, responsesonchat.Options{
		UpstreamModel: e.target.model.Name, MaxOutput: e.output,
		DropUnknownTools: true, ToolParts: true, FileURLs: true, SignedReasoning: true,
	})
	if err != nil {
		return nil, err
	}
	var between jsonscan.Body
	defer between.Release()
	if err := invalidJSON(between.Parse(chat)); err != nil {
		return nil, err
	}
	s, original, err := asMessages(e, &between)
	if err != nil {
		return nil, responsesonchat.CallerError(err)
	}
	for i, field := range s.leftOut {
		s.leftOut[i] = responsesonchat.CallerName(field)
	}
	s.droppedTools = asked.DroppedTools()
	s.answer = &responsesFromMessages{responsesFromChat{e.answer, asked, e.ids}, original}
	return s, nil
}

// responsesFromMessages is the answer of a provider that has only the Messages API.
type responsesFromMessages struct {
	responsesFromChat
	upstream *chatonmessages.Original
}

func (a *responsesFromMessages) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := chatonmessages.Result(body, a.upstream, a.call)
	if err != nil {
		return dst, sum, err
	}
	out, shown, err := a.responsesFromChat.whole(dst, chat)
	if err != nil {
		return out, shown, err
	}
	return out, sum, nil
}

func (a *responsesFromMessages) stream() openai.Stream {
	return chatonmessages.NewStream(a.upstream, a.call, responsesonchat.NewStream(a.original, a.call, a.ids))
}
