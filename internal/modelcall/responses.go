package modelcall

import (
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// responses is the Responses API: the caller's own bytes with a few edits, or translated for a
// provider that has only chat completions or the Messages API. Both families have the same shapes here.
type responses struct{}

func (responses) kind() provider.Operation { return provider.Responses }
func (responses) messages() string         { return "input" }

func (responses) parse(b *jsonscan.Body, _ http.Header) (params.Request, error) {
	return params.ParseResponses(b)
}

func (responses) requestedLimits(b *jsonscan.Body) (params.RequestedLimits, error) {
	return params.ResponsesLimits(b)
}

func (responses) references(b *jsonscan.Body) (params.Refs, error) { return params.References(b) }

// heartbeat implements [Operation]. Codex counts events of any type and no comments (codex-rs,
// codex-api/src/sse), and gives up after 300 s. Others get no such event: openai-node takes it only
// after response.created.
func (responses) heartbeat(h http.Header) heartbeat {
	if strings.HasPrefix(h.Get("Originator"), "codex") {
		return heartbeat{event: keepalive, every: time.Minute, early: true}
	}
	return heartbeat{}
}

var keepalive = []byte("event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n")

func (responses) encode(e encoding) (*sending, error) {
	switch e.target.operation {
	case provider.Chat:
		return encodeResponsesAsChat(e)
	case provider.Messages:
		return encodeResponsesAsMessages(e)
	}
	if e.output > 0 {
		e.requested.SetOutput(e.body, "", e.output)
	}
	if err := e.setPreferences(); err != nil {
		return nil, err
	}
	if err := e.sealed.leaveOutItems(e.body, e.target); err != nil {
		return nil, err
	}
	params.EncodeResponses(e.body, e.asked, e.target.model.Name)
	if err := openrouter.EncodeResponsesFields(e.body, e.openRouter()); err != nil {
		return nil, err
	}
	e.answer.ResponseDefaults = e.api.(ChatAPI).ResponseDefaults()
	return &sending{operation: provider.Responses, body: e.body.Segments(nil), stream: e.asked.Stream, answer: &responsesAnswer{e.answer}}, nil
}

// responsesAnswer is the answer of a provider that has the Responses API.
type responsesAnswer struct{ call openai.Call }

func (a *responsesAnswer) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return openai.ResponsesResult(dst, body, a.call)
}

func (a *responsesAnswer) stream() openai.Stream { return openai.NewResponsesStream(a.call) }

func encodeResponsesAsChat(e encoding) (*sending, error) {
	p := e.target.provider
	body, original, err := responsesonchat.Request(e.body, e.asked.Stream, responsesonchat.Options{
		UpstreamModel: e.target.model.Name, MaxOutput: e.output, MaxTokensField: p.MaxTokensField,
		DeveloperRole: p.Translate.DeveloperRole, ReasoningContent: p.Translate.ReasoningContent,
		DropUnknownTools: !p.Translate.RefuseUnknownTools,
	})
	if err != nil {
		return nil, err
	}
	if body, err = e.appendPreferences(body); err != nil {
		return nil, err
	}
	return &sending{operation: provider.Chat, body: [][]byte{body}, stream: e.asked.Stream,
		droppedTools: original.DroppedTools(), answer: &responsesFromChat{e.answer, original, e.ids}}, nil
}

// responsesFromChat is the answer of a provider that has only chat completions.
type responsesFromChat struct {
	call     openai.Call
	original *responsesonchat.Original
	ids      responseIDs
}

func (a *responsesFromChat) whole(dst, body []byte) ([]byte, openai.Summary, error) {
	return responsesonchat.Result(dst, body, a.original, a.call, a.ids)
}

func (a *responsesFromChat) stream() openai.Stream {
	return responsesonchat.NewStream(a.original, a.call, a.ids)
}
