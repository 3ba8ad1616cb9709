package modelcall

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/fromresponses"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/tomessages"
)

// messagesVersion is the header of a request that the gateway writes for the Messages API.
var messagesVersion = []string{tomessages.Version}

// asMessages writes a chat request for a provider that has only the Messages API.
func asMessages(e encoding, chat *jsonscan.Body) (*sending, *tomessages.Original, error) {
	t := e.target
	body, original, err := tomessages.Request(chat, e.asked.Stream, tomessages.Options{
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
	original *tomessages.Original
}

func (a *chatFromMessages) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := tomessages.Result(body, a.original, a.call)
	return a.wholeOf(dst, chat, sum, err)
}

func (a *chatFromMessages) stream() openai.Stream {
	return tomessages.NewStream(a.original, a.call, a.api.ChatStream(a.call, a.pricer))
}

// encodeResponsesAsMessages translates twice, with a chat request between the two APIs.
func encodeResponsesAsMessages(e encoding) (*sending, error) {
	chat, asked, err := fromresponses.Request(e.body, e.asked.Stream, fromresponses.Options{
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
		return nil, fromresponses.CallerError(err)
	}
	for i, field := range s.leftOut {
		s.leftOut[i] = fromresponses.CallerName(field)
	}
	s.droppedTools = asked.DroppedTools()
	s.answer = &responsesFromMessages{responsesFromChat{e.answer, asked, e.ids}, original}
	return s, nil
}

// responsesFromMessages is the answer of a provider that has only the Messages API.
type responsesFromMessages struct {
	responsesFromChat
	upstream *tomessages.Original
}

func (a *responsesFromMessages) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	chat, sum, err := tomessages.Result(body, a.upstream, a.call)
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
	return tomessages.NewStream(a.upstream, a.call, fromresponses.NewStream(a.original, a.call, a.ids))
}
