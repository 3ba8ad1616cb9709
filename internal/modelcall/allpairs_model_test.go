package modelcall

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/anthropicrules"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/converserules"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/geminirules"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/openairules"
)

// vendor is a target of calls: how the provider is configured, and the rules of what it is sent.
type vendor struct {
	name, model string
	url         string
	native      string // the caller whose requests reach it as they are
	dialect     string
	translate   *provider.Translate // nil with dialect openai: the provider has the Responses API alone
	face        func(behind http.Handler) http.Handler
	thought     string // of modelBehind, or its signature: it must come back with the next turn; "" if it need not
	judge       func(sent *http.Request, body []byte) error
}

func toModel(behind http.Handler) http.Handler    { return behind }
func toGemini(behind http.Handler) http.Handler   { return clouds.NewGemini(behind) }
func toConverse(behind http.Handler) http.Handler { return clouds.NewConverse(behind) }
func toClaude(behind http.Handler) http.Handler   { return clouds.NewClaude(behind) }

const (
	thought = "I think."

	v1     = "http://acme.invalid/v1"
	vertex = "http://acme.invalid/v1/projects/p/locations/global/publishers/anthropic"
)

// vendors are all targets. With dialect openai, one that has chat completions lacks the Responses API.
var vendors = []vendor{
	{"chat", "echo", v1, "chat", provider.OpenAI, &provider.Translate{}, toModel, "", chatRules},
	{"reasoning", "echo", v1, "chat", provider.OpenAI, &provider.Translate{ReasoningContent: true}, toModel, thought, reasoningRules},
	{"responses", "echo", v1, "responses", provider.OpenAI, nil, toModel, "", responsesRules},
	{"messages", "claude-sonnet-4-5", v1, "messages", provider.Anthropic, nil, toModel, thought, messagesRules},
	{"gemini", "gemini-3-echo", "http://acme.invalid/v1beta", "", provider.Gemini, nil, toGemini, clouds.Signature, geminiRules("gemini-3-echo")},
	{"gemini-2.5", "gemini-2.5-echo", "http://acme.invalid/v1beta", "", provider.Gemini, nil, toGemini, "", geminiRules("gemini-2.5-echo")},
	{"converse", "amazon.echo", "http://acme.invalid", "", provider.Bedrock, nil, toConverse, "", converseRules},
	{"claude-on-bedrock", "anthropic.claude-sonnet-4-5", "http://acme.invalid", "messages", provider.BedrockAnthropic, nil, toClaude, thought, cloudRules},
	{"claude-on-vertex", "claude-sonnet-4-5", vertex, "messages", provider.VertexAnthropic, nil, toClaude, thought, cloudRules},
}

func responsesRules(_ *http.Request, body []byte) error { return openairules.Responses(body) }

func converseRules(_ *http.Request, body []byte) error { return converserules.Check(body) }

func geminiRules(model string) func(*http.Request, []byte) error {
	return func(_ *http.Request, body []byte) error { return geminirules.Check(model, body) }
}

func chatRules(_ *http.Request, body []byte) error { return openairules.Chat(body) }

// reasoningRules are those of models that think and want their thoughts back, empty if there are none:
// DeepSeek's "The `reasoning_content` in the thinking mode must be passed back to the API."
func reasoningRules(_ *http.Request, body []byte) error {
	var r struct{ Messages []object }
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	for i, m := range r.Messages {
		if _, thought := m["reasoning_content"].(string); m["tool_calls"] != nil && !thought {
			return errorf("messages[%d]: the `reasoning_content` in the thinking mode must be passed back to the API", i)
		}
	}
	return openairules.Chat(body)
}

func messagesRules(sent *http.Request, body []byte) error {
	if err := anthropicrules.Check(sent.Header, body, false); err != nil {
		return err
	}
	return anthropicrules.Schemas(body)
}

// cloudRules are those of the Messages API: what the face of the cloud takes out of its frame is checked
// behind it. See modelBehind.
func cloudRules(sent *http.Request, body []byte) error {
	if err := anthropicrules.Cloud(sent.Header, body); err != nil {
		return err
	}
	return anthropicrules.Schemas(body)
}

// modelBehind is the model of every target. It calls the first tool that it is offered, or answers with
// a word.
type modelBehind struct {
	says    bool  // a word, whatever tools there are
	thinks  bool  // whatever the API
	refusal error // of the last request
}

func (m *modelBehind) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	parse := answers.ParseRequest
	isMessages := strings.HasSuffix(r.URL.Path, "/messages")
	if isMessages {
		parse = func(body []byte) (*answers.Request, error) { return answers.ParseMessages(body, false) }
		m.refusal = anthropicrules.Check(r.Header, body, false)
	}
	asked, err := parse(body)
	if err != nil {
		m.refusal = err
	}
	if m.refusal != nil {
		http.Error(w, `{"type":"error","error":{"type":"invalid_request_error","message":"refused"}}`, 400)
		return
	}
	reply := &answers.Reply{
		ID: "1", Model: asked.Model, Now: func() time.Time { return time.Unix(1700000000, 0) }, Choices: 1, Finish: "stop", Text: []string{"Hel", "lo."},
	}
	if len(asked.Tools) > 0 && !m.says {
		reply.Text, reply.Finish = nil, "tool_calls"
		reply.Calls = []answers.Call{{Name: asked.Tools[0].Callable().Name, Arguments: []string{`{"a":`, `"b"}`}}}
	}
	if asked.Thinks || m.thinks {
		reply.Reasoning = []string{thought[:2], thought[2:]}
	}
	whole, events := answers.Object(nil), []answers.Event(nil)
	switch {
	case isMessages:
		whole, events = reply.Message(), reply.MessageStream()
	case strings.HasSuffix(r.URL.Path, "/responses"):
		whole, events = reply.FinalResponse(), reply.ResponseStream()
	default:
		whole, events = reply.ChatResult(), reply.ChatStream(asked.StreamOptions.IncludeUsage)
	}
	if !asked.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answers.Encode(whole))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for _, e := range events {
		_, _ = w.Write(e.Encode())
	}
}

// transport is the way to a vendor, which keeps what is sent.
type transport struct {
	face    http.Handler
	sent    *http.Request
	body    []byte
	refused string // what the vendor said
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	t.sent, t.body, t.refused = r, body, ""
	again := r.Clone(r.Context())
	again.Body, again.RequestURI = io.NopCloser(strings.NewReader(string(body))), r.URL.RequestURI()
	w := httptest.NewRecorder()
	t.face.ServeHTTP(w, again)
	if w.Code != 200 {
		t.refused = w.Body.String()
	}
	return w.Result(), nil
}
