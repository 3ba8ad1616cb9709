package tests

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// onlyMessages has the fake provider as Anthropic: its address knows no other API.
var onlyMessages = setup{providers: `
	provider fake {
		dialect anthropic
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`}

func TestOpenAIsCallsOfAnthropicAreTranslated(t *testing.T) {
	h := start(t, onlyMessages)
	for i, path := range modelPaths {
		a := h.post(path, "full", bodyFor(path, "fake/echo", ""))
		v := parse(t, a.body)
		text, usage := at(v, "choices", 0, "message", "content"), at(v, "usage", "prompt_tokens")
		if path == responsesV1 {
			text, usage = at(v, "output", 0, "content", 0, "text"), at(v, "usage", "input_tokens")
		}
		if a.status != 200 || text != "You said: say hello" || at(v, "model") != "fake/echo" || usage == number("0") {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		sent := h.upstreamCall(i + 1)
		want := `{"model":"echo","max_tokens":16384,"messages":[{"role":"user","content":[{"type":"text","text":"say hello"}]}]}`
		if sent.Path != "/v1/messages" || string(sent.Body) != want || sent.Header("Anthropic-Version")[0] != "2023-06-01" ||
			sent.Header("X-Api-Key")[0] != providerKey || len(sent.Header("Authorization")) > 0 {
			t.Errorf("%s: the provider got %s %s", path, sent.Path, sent.Body)
		}
		found := h.get("/api/v1/generation?id="+at(v, "id").(string), "full")
		if found.status != 200 || !strings.Contains(string(found.body), a.header.Get("X-Request-Id")) {
			t.Errorf("%s: the id of the answer does not find the call: %d %s", path, found.status, found.body)
		}
	}
}

// messagesOddities are the behaviours that the Messages API shows in another way.
var messagesOddities = map[string]oddity{
	"azure-filter":   never.as(400, "upstream_rejected"),
	"context-window": {finish: "length"},
	"no-done":        {chatStream: broken}, // without message_stop an answer is not whole
	"null-fields":    {},
	"overloaded":     never.as(503, "upstream_overloaded"),
	"pause-turn":     {chat: refused, chatStream: broken},
	"refusal":        {text: "-", finish: "content_filter"},
	"unknown-block":  never,
}

func TestNoOddityOfAnthropicCountsAsSuccess(t *testing.T) {
	h := start(t, onlyMessages)
	for _, name := range faults.Behaviours() {
		o, other := messagesOddities[name]
		if !other {
			o = oddities[name]
		}
		t.Run(name, func(t *testing.T) {
			for _, path := range modelPaths {
				h.oddCall(t, name, path, "", o, o.chat)
				h.oddCall(t, name, path, streaming, o, o.chatStream)
			}
		})
	}
}

// A model's thoughts return to it with the result of a tool, whole or streamed.
func TestToolsAndThoughtsOfAnthropicReturnToIt(t *testing.T) {
	h := start(t, onlyMessages)
	const tools = `,"max_tokens":9000,"reasoning_effort":"medium","tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]`
	for _, path := range chatPaths {
		v := parse(t, h.post(path, "full", chat("fake/tools", tools)).body)
		message, err := json.Marshal(at(v, "choices", 0, "message"))
		if err != nil {
			t.Fatal(err)
		}
		details := at(v, "choices", 0, "message", "reasoning_details", 0)
		if at(v, "choices", 0, "finish_reason") != "tool_calls" || at(details, "signature") == nil || at(v, "choices", 0, "message", "reasoning_content") == nil {
			t.Fatalf("%s: %v", path, v)
		}
		results := ""
		calls, _ := at(v, "choices", 0, "message", "tool_calls").([]any)
		for _, c := range calls {
			results += `,{"role":"tool","tool_call_id":"` + at(c, "id").(string) + `","content":"sunny"}`
		}
		next := `{"model":"fake/tools","messages":[{"role":"user","content":"say hello"},` + string(message) + results + `]` + tools + `}`
		a := h.post(path, "full", next)
		if a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		sent := h.upstream.Requests()
		if body := string(sent[len(sent)-1].Body); !strings.Contains(body, `"thinking":{"type":"enabled","budget_tokens":4500}`) || !strings.Contains(body, `{"type":"thinking","thinking":"`) {
			t.Errorf("%s: the provider got %s", path, body)
		}
	}
}

// The reasoning items of an answer of the Responses API carry the thoughts.
func TestThoughtsOfAnthropicReturnInReasoningItems(t *testing.T) {
	h := start(t, onlyMessages)
	const more = `,"max_output_tokens":9000,"reasoning":{"effort":"medium"},"include":["reasoning.encrypted_content"],"store":false,` +
		`"tools":[{"type":"function","name":"weather","parameters":{"type":"object"}}]`
	first := parse(t, h.post(responsesV1, "full", ask("fake/tools", more)).body)
	output, _ := at(first, "output").([]any)
	if len(output) < 2 || at(output[0], "type") != "reasoning" || at(output[0], "encrypted_content") == nil || at(output[1], "type") != "function_call" {
		t.Fatalf("%v", first)
	}
	events, err := h.open(h.request(responsesV1, "full", ask("fake/tools", more+streaming))).rest()
	if err != nil {
		t.Fatal(err)
	}
	last := parse(t, []byte(events[len(events)-1].data))
	if got, want := at(last, "response", "output", 0, "encrypted_content"), at(output[0], "encrypted_content"); got != want {
		t.Errorf("streamed %v\nwhole %v", got, want)
	}
	items, err := json.Marshal(output)
	if err != nil {
		t.Fatal(err)
	}
	results := ""
	for _, call := range output[1:] {
		results += `,{"type":"function_call_output","call_id":"` + at(call, "call_id").(string) + `","output":"sunny"}`
	}
	next := `{"model":"fake/tools","input":[{"role":"user","content":"say hello"},` + strings.Trim(string(items), "[]") + results + `]` + more + `}`
	a := h.post(responsesV1, "full", next)
	sent := h.upstream.Requests()
	if body := string(sent[len(sent)-1].Body); a.status != 200 || !strings.Contains(body, `{"type":"thinking","thinking":"`) || !strings.Contains(body, `"thinking":{"type":"enabled"`) {
		t.Errorf("%d %s\nthe provider got %s", a.status, a.body, body)
	}
}

func TestWhatAnthropicCannotBeAskedIsRefusedByName(t *testing.T) {
	h := start(t, onlyMessages)
	for field, param := range map[string]string{
		`"n":2`: "n", `"modalities":["text","audio"]`: "modalities", `"service_tier":"flex"`: "service_tier", `"temperature":2.5`: "temperature",
		`"something_new":1`: "something_new",
	} {
		for _, path := range chatPaths {
			a := h.post(path, "full", chat("fake/claude-opus-5-5", ","+field))
			v := parse(t, a.body)
			got := at(v, "error", "param")
			if path == chatRouter {
				got = at(v, "error", "metadata", "param")
			}
			if a.status != 400 || got != param {
				t.Errorf("%s: %s: %d %s, want param %s", path, field, a.status, a.body, param)
			}
		}
	}
	for field, param := range map[string]string{
		`"temperature":0`: "temperature", `"text":{"format":{"type":"grammar"}}`: "text.format.type", `"reasoning":{"effort":"none"}`: "reasoning.effort",
		`"previous_response_id":"resp_1"`: "previous_response_id",
	} {
		a := h.post(responsesV1, "full", ask("fake/claude-opus-5-5", ","+field))
		if v := parse(t, a.body); a.status != 400 || at(v, "error", "param") != param {
			t.Errorf("%s: %d %s, want param %s", field, a.status, a.body, param)
		}
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
}

func TestATranslatedMessageIsStreamedPieceByPiece(t *testing.T) {
	h := start(t, onlyMessages)
	for i, path := range modelPaths {
		gate := "step-" + itoa(i)
		h.upstream.Step(gate, 3)
		s := h.open(h.request(path, "full", bodyFor(path, "fake/"+gate, streaming)))
		for said := ""; said != "You said: say hello"; {
			h.upstream.Step(gate, 1)
			said += textOf(t, s.mustNext())
		}
		h.upstream.Step(gate, 20)
		if events, err := s.rest(); err != nil || !whole(events) {
			t.Errorf("%s: %v %v", path, events, err)
		}
	}
}
