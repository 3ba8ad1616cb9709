package wire

import (
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// encodeResponses sends the caller's own bytes with a few edits.
func encodeResponses(e Encoding) (*Sending, error) {
	if e.Output > 0 {
		e.Requested.SetOutput(e.Body, "", e.Output)
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	if err := e.Sealed.LeaveOutItems(e.Body); err != nil {
		return nil, err
	}
	params.EncodeResponses(e.Body, e.Asked, e.Model.Name)
	if err := openrouter.EncodeResponsesFields(e.Body, e.openRouter()); err != nil {
		return nil, err
	}
	e.Answer.ResponseDefaults = e.API.(ChatAPI).ResponseDefaults()
	return e.native(responsesWire, &responsesAnswer{e.Answer}), nil
}

// encodeInputTokens writes a request whose tokens are counted.
func encodeInputTokens(e Encoding) (*Sending, error) {
	if err := e.Sealed.LeaveOutItems(e.Body); err != nil {
		return nil, err
	}
	params.EncodeResponses(e.Body, e.Asked, e.Model.Name)
	return e.native(inputWire, countAnswer{call: e.Answer}), nil
}

// encodeCompact writes a request to compact a conversation.
func encodeCompact(e Encoding) (*Sending, error) {
	if err := e.Sealed.LeaveOutItems(e.Body); err != nil {
		return nil, err
	}
	params.EncodeResponses(e.Body, e.Asked, e.Model.Name)
	return e.native(compactWire, &responsesAnswer{e.Answer}), nil
}

// responsesAnswer is the answer of a provider that has the Responses API.
type responsesAnswer struct{ call openai.Call }

func (a *responsesAnswer) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return openai.ResponsesResult(dst, body, a.call)
}

func (a *responsesAnswer) Stream() openai.Stream { return openai.NewResponsesStream(a.call) }

// encodeResponsesOnChat writes a Responses request for a provider that has only chat completions, or that an
// adapter makes look so.
func encodeResponsesOnChat(e Encoding) (*Sending, error) {
	if e.adapter(chatWire) != nil {
		return readResponses(e, func(chat *conversation.Request, asked *responsesonchat.Original) (*Sending, error) {
			return e.adaptedChat(chatWire, chat, &responsesOnChat{e.Answer, asked, e.IDs})
		})
	}
	p := e.Provider
	opt := responsesonchat.Options{
		UpstreamModel: e.Model.Name, MaxOutput: e.Output, MaxTokensField: p.MaxTokensField, DropUnknownTools: !p.Translate.RefuseUnknownTools,
	}
	opt.Chat.DeveloperRole, opt.Chat.ReasoningContent = p.Translate.DeveloperRole, p.Translate.ReasoningContent
	body, original, err := responsesonchat.Request(e.Body, e.Asked.Stream, opt)
	if err != nil {
		return nil, responsesonchat.CallerError(err)
	}
	s, err := e.translated(chatWire, body, &responsesOnChat{e.Answer, original, e.IDs})
	if err == nil {
		s.DroppedTools = original.DroppedTools()
	}
	return s, err
}

// responsesOnChat is the answer of a provider that has only chat completions.
type responsesOnChat struct {
	call     openai.Call
	original *responsesonchat.Original
	ids      IDs
}

func (a *responsesOnChat) Whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return responsesonchat.Result(dst, body, a.original, a.call, a.ids)
}

func (a *responsesOnChat) Stream() openai.Stream {
	return responsesonchat.NewStream(a.original, a.call, a.ids)
}

// codexHeartbeat is for Codex, which counts events of any type and no comments (codex-rs,
// codex-api/src/sse), and gives up after 300 s. Others get no such event: openai-node takes it only
// after response.created.
func codexHeartbeat(h http.Header) Heartbeat {
	if strings.HasPrefix(h.Get("Originator"), "codex") {
		return Heartbeat{Event: keepalive, Every: time.Minute, Early: true}
	}
	return Heartbeat{}
}

var keepalive = []byte("event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n")
