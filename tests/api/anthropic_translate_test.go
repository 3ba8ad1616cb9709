package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// onlyMessages has the fake provider as Anthropic: its address knows no other API.
var onlyMessages = harness.Setup{Providers: `
	provider fake {
		dialect anthropic
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`}

func TestOpenAIsCallsOfAnthropicAreTranslated(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	for i, path := range modelPaths {
		a := h.Client.Post(path, "full", harness.Body(path, "fake/echo", ""))
		v := harness.Parse(t, a.Body)
		text, usage := harness.At(v, "choices", 0, "message", "content"), harness.At(v, "usage", "prompt_tokens")
		if path == harness.ResponsesV1 {
			text, usage = harness.At(v, "output", 0, "content", 0, "text"), harness.At(v, "usage", "input_tokens")
		}
		if a.Status != 200 || text != "You said: say hello" || harness.At(v, "model") != "fake/echo" || usage == harness.Number("0") {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		sent := h.Provider.Request(i + 1)
		want := `{"model":"echo","max_tokens":16384,"messages":[{"role":"user","content":[{"type":"text","text":"say hello"}]}]}`
		if sent.Path != "/v1/messages" || string(sent.Body) != want || sent.Header("Anthropic-Version")[0] != "2023-06-01" ||
			sent.Header("X-Api-Key")[0] != harness.ProviderKey || len(sent.Header("Authorization")) > 0 {
			t.Errorf("%s: the provider got %s %s", path, sent.Path, sent.Body)
		}
		found := h.Client.Get("/api/v1/generation?id="+harness.At(v, "id").(string), "full")
		if found.Status != 200 || !strings.Contains(string(found.Body), a.Header.Get("X-Request-Id")) {
			t.Errorf("%s: the id of the answer does not find the call: %d %s", path, found.Status, found.Body)
		}
	}
}

// messagesOddities are the behaviours that the Messages API shows in another way.
var messagesOddities = map[string]oddity{
	"azure-filter":   never.as(422, "provider_content_policy"),
	"context-window": {finish: "length"},
	"no-done":        {chatStream: broken}, // without message_stop an answer is not whole
	"null-fields":    {},
	"overloaded":     never.as(503, "upstream_overloaded"),
	"pause-turn":     {chat: refused, chatStream: broken},
	"refusal":        {text: "-", finish: "content_filter"},
	"unknown-block":  never,
}

func TestNoOddityOfAnthropicCountsAsSuccess(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	for _, name := range faults.Behaviours() {
		o, other := messagesOddities[name]
		if !other {
			o = oddities[name]
		}
		t.Run(name, func(t *testing.T) {
			for _, path := range modelPaths {
				oddCall(h, t, name, path, "", o, o.chat)
				oddCall(h, t, name, path, harness.Streaming, o, o.chatStream)
			}
		})
	}
}

// A model's thoughts return to it with the result of a tool, whole or streamed.
func TestToolsAndThoughtsOfAnthropicReturnToIt(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	const tools = `,"max_tokens":9000,"reasoning_effort":"medium","tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]`
	for _, path := range chatPaths {
		v := harness.Parse(t, h.Client.Post(path, "full", harness.Chat("fake/tools", tools)).Body)
		message, err := json.Marshal(harness.At(v, "choices", 0, "message"))
		if err != nil {
			t.Fatal(err)
		}
		details := harness.At(v, "choices", 0, "message", "reasoning_details", 0)
		if harness.At(v, "choices", 0, "finish_reason") != "tool_calls" || harness.At(details, "signature") == nil || harness.At(v, "choices", 0, "message", "reasoning_content") == nil {
			t.Fatalf("%s: %v", path, v)
		}
		results := ""
		calls, _ := harness.At(v, "choices", 0, "message", "tool_calls").([]any)
		for _, c := range calls {
			results += `,{"role":"tool","tool_call_id":"` + harness.At(c, "id").(string) + `","content":"sunny"}`
		}
		next := `{"model":"fake/tools","messages":[{"role":"user","content":"say hello"},` + string(message) + results + `]` + tools + `}`
		a := h.Client.Post(path, "full", next)
		if a.Status != 200 {
			t.Fatalf("%s: %d %s", path, a.Status, a.Body)
		}
		sent := h.Provider.Fake.Requests()
		if body := string(sent[len(sent)-1].Body); !jsontest.Has(t, body, `{"thinking":{"type":"enabled","budget_tokens":4500}}`) || !jsontest.Has(t, body, `{"type":"thinking"}`) || jsontest.String(t, body, "thinking") == "" {
			t.Errorf("%s: the provider got %s", path, body)
		}
	}
}

// The reasoning items of an answer of the Responses API carry the thoughts.
func TestThoughtsOfAnthropicReturnInReasoningItems(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	const more = `,"max_output_tokens":9000,"reasoning":{"effort":"medium"},"include":["reasoning.encrypted_content"],"store":false,` +
		`"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}]`
	first := harness.Parse(t, h.Client.Post(harness.ResponsesV1, "full", harness.Responses("fake/tools", more)).Body)
	output, _ := harness.At(first, "output").([]any)
	if len(output) < 2 || harness.At(output[0], "type") != "reasoning" || harness.At(output[0], "encrypted_content") == nil || harness.At(output[1], "type") != "function_call" {
		t.Fatalf("%v", first)
	}
	events, err := h.Client.Open(h.Client.Request(harness.ResponsesV1, "full", harness.Responses("fake/tools", more+harness.Streaming))).Rest()
	if err != nil {
		t.Fatal(err)
	}
	last := harness.Parse(t, []byte(events[len(events)-1].Data))
	if got, want := harness.At(last, "response", "output", 0, "encrypted_content"), harness.At(output[0], "encrypted_content"); got != want {
		t.Errorf("streamed %v\nwhole %v", got, want)
	}
	items, err := json.Marshal(output)
	if err != nil {
		t.Fatal(err)
	}
	results := ""
	for _, call := range output[1:] {
		results += `,{"type":"function_call_output","call_id":"` + harness.At(call, "call_id").(string) + `","output":"sunny"}`
	}
	next := `{"model":"fake/tools","input":[{"role":"user","content":"say hello"},` + strings.Trim(string(items), "[]") + results + `]` + more + `}`
	a := h.Client.Post(harness.ResponsesV1, "full", next)
	sent := h.Provider.Fake.Requests()
	if body := string(sent[len(sent)-1].Body); a.Status != 200 || !jsontest.Has(t, body, `{"type":"thinking"}`) || jsontest.String(t, body, "thinking") == "" || !jsontest.Has(t, body, `{"type":"enabled"}`) {
		t.Errorf("%d %s\nthe provider got %s", a.Status, a.Body, body)
	}
}

func TestWhatAnthropicCannotBeAskedIsRefusedByName(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	for field, param := range map[string]string{
		`"n":2`: "n", `"modalities":["text","audio"]`: "modalities", `"service_tier":"flex"`: "service_tier", `"temperature":2.5`: "temperature",
		`"something_new":1`: "something_new",
	} {
		for _, path := range chatPaths {
			a := h.Client.Post(path, "full", harness.Chat("fake/claude-opus-5-5", ","+field))
			v := harness.Parse(t, a.Body)
			got := harness.At(v, "error", "param")
			if path == harness.ChatRouter {
				got = harness.At(v, "error", "metadata", "param")
			}
			if a.Status != 400 || got != param {
				t.Errorf("%s: %s: %d %s, want param %s", path, field, a.Status, a.Body, param)
			}
		}
	}
	for field, param := range map[string]string{
		`"temperature":0`: "temperature", `"text":{"format":{"type":"grammar"}}`: "text.format.type", `"reasoning":{"effort":"none"}`: "reasoning.effort",
		`"previous_response_id":"resp_1"`: "previous_response_id",
	} {
		a := h.Client.Post(harness.ResponsesV1, "full", harness.Responses("fake/claude-opus-5-5", ","+field))
		if v := harness.Parse(t, a.Body); a.Status != 400 || harness.At(v, "error", "param") != param {
			t.Errorf("%s: %d %s, want param %s", field, a.Status, a.Body, param)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}

func TestATranslatedMessageIsStreamedPieceByPiece(t *testing.T) {
	h := harness.Start(t, onlyMessages)
	for i, path := range modelPaths {
		gate := "step-" + strconv.Itoa(i)
		h.Provider.Fake.Step(gate, 3)
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/"+gate, harness.Streaming)))
		for said := ""; said != "You said: say hello"; {
			h.Provider.Fake.Step(gate, 1)
			said += textOf(t, s.MustNext())
		}
		h.Provider.Fake.Step(gate, 20)
		if events, err := s.Rest(); err != nil || !harness.Whole(events) {
			t.Errorf("%s: %v %v", path, events, err)
		}
	}
}
