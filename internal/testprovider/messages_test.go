package testprovider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// messagesWith is a request of the Messages API with these members on top.
func messagesWith(members ...string) string {
	body := map[string]json.RawMessage{}
	for _, text := range append([]string{`"model":"echo","max_tokens":100,"messages":[{"role":"user","content":"hello there"}]`}, members...) {
		if err := json.Unmarshal([]byte("{"+text+"}"), &body); err != nil {
			panic(err)
		}
	}
	return string(testprovider.Encode(body))
}

// sendMessages sends with the version, and with headers as "Name: value".
func sendMessages(t *testing.T, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := newTransport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// askMessages is the answer to a request that succeeds.
func askMessages(t *testing.T, body string) string {
	t.Helper()
	resp := sendMessages(t, http.MethodPost, "/messages", body)
	answer := readAll(t, resp)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	return answer
}

func TestMessageIsAnswered(t *testing.T) {
	sameJSON(t, askMessages(t, messagesWith()), `{"id": "msg_2", "type": "message", "role": "assistant", "model": "echo",
		"content": [{"type": "text", "text": "You said: hello there"}], "stop_reason": "end_turn", "stop_sequence": null,
		"usage": {"input_tokens": 2, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
			"cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
			"output_tokens": 4, "service_tier": "standard"}}`)
}

func TestMessageEventsComeInAnthropicsOrder(t *testing.T) {
	names, data := events(t, askMessages(t, messagesWith(`"stream":true,"max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":2000}`)))
	var got []string
	for i, name := range names {
		if name != typeOf(t, data[i]) {
			t.Errorf("event %q has the data %s", name, data[i])
		}
		if name != "content_block_delta" || got[len(got)-1] != name {
			got = append(got, name)
		}
	}
	want := strings.Fields(`message_start content_block_start ping content_block_delta content_block_stop
		content_block_start content_block_delta content_block_stop message_delta message_stop`)
	if !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
	if strings.Contains(strings.Join(data, ""), "sequence_number") {
		t.Error("events are numbered, as those of Responses")
	}
}

func typeOf(t *testing.T, data string) string {
	t.Helper()
	var v struct{ Type string }
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v.Type
}

const weatherTool = `"tools":[{"name":"get_weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`

func TestStreamedMessageAddsUpToTheWholeOne(t *testing.T) {
	for name, members := range map[string]string{
		"text":             `"stop_sequences":["never said"]`,
		"stop sequence":    `"stop_sequences":["there"]`,
		"limit":            `"max_tokens":2`,
		"no output":        `"max_tokens":0`,
		"tool":             weatherTool,
		"tool with limit":  weatherTool + `,"max_tokens":1`,
		"thinking":         `"thinking":{"type":"adaptive"}`,
		"omitted thinking": `"thinking":{"type":"adaptive","display":"omitted"}`,
		"thinking, tool":   `"thinking":{"type":"adaptive"},` + weatherTool,
		"schema":           `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			whole := askMessages(t, messagesWith(members))
			sameJSON(t, accumulate(t, askMessages(t, messagesWith(members, `"stream":true`))), whole)
		})
	}
}

// accumulate puts the events of a stream together as Anthropic's SDKs do.
func accumulate(t *testing.T, stream string) string {
	t.Helper()
	_, data := events(t, stream)
	var m map[string]any
	var content []any
	pieces := ""
	for _, d := range data {
		var e struct {
			Type         string
			Index        int
			Message      map[string]any
			ContentBlock map[string]any `json:"content_block"`
			Delta        map[string]any
			Usage        map[string]any
		}
		if err := json.Unmarshal([]byte(d), &e); err != nil {
			t.Fatalf("%v: %s", err, d)
		}
		switch e.Type {
		case "message_start":
			m = e.Message
		case "content_block_start":
			if e.Index != len(content) {
				t.Fatalf("block %d after %d", e.Index, len(content))
			}
			content, pieces = append(content, e.ContentBlock), ""
		case "content_block_delta":
			b := content[e.Index].(map[string]any)
			for key, value := range e.Delta {
				switch key {
				case "text", "thinking", "signature":
					b[key] = b[key].(string) + value.(string)
				case "partial_json":
					pieces += value.(string)
				case "citation":
					b["citations"] = append(b["citations"].([]any), value)
				}
			}
		case "content_block_stop":
			if b := content[e.Index].(map[string]any); pieces != "" {
				var input any
				if json.Unmarshal([]byte(pieces), &input) == nil {
					b["input"] = input
				}
			}
		case "message_delta":
			maps.Copy(m, e.Delta)
			maps.Copy(m["usage"].(map[string]any), e.Usage)
		}
	}
	if content != nil {
		m["content"] = content
	}
	return string(testprovider.Encode(m))
}

func TestEveryEndOfAMessageHasItsReason(t *testing.T) {
	for _, tt := range []struct{ members, want string }{
		{`"stop_sequences":["none"]`, "end_turn <nil>"},
		{`"stop_sequences":["none","there"]`, "stop_sequence there"},
		{`"max_tokens":1`, "max_tokens <nil>"},
		{`"max_tokens":0`, "max_tokens <nil>"},
		{weatherTool, "tool_use <nil>"},
		{weatherTool + `,"tool_choice":{"type":"none"}`, "end_turn <nil>"},
	} {
		var m struct {
			Reason   string `json:"stop_reason"`
			Sequence any    `json:"stop_sequence"`
		}
		if err := json.Unmarshal([]byte(askMessages(t, messagesWith(tt.members))), &m); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.Reason, " ", m.Sequence); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.members, got, tt.want)
		}
	}
}

// turn is a conversation in which the assistant said content and the user results.
func turn(assistant, user string) string {
	return `"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":` + assistant + `},{"role":"user","content":` + user + `}]`
}

func TestToolResultsAreRepeated(t *testing.T) {
	calls := `[{"type":"tool_use","id":"toolu_1","name":"a","input":{}},{"type":"tool_use","id":"toolu_2","name":"b","input":{"c":1}}]`
	results := `[{"type":"tool_result","tool_use_id":"toolu_2","content":"rain"},
		{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"noon"}],"is_error":true}]`
	if got := askMessages(t, messagesWith(turn(calls, results))); !strings.Contains(got, "The tool answered: rain; noon") {
		t.Error(got)
	}
}

func TestTokensOfAMessageAreCounted(t *testing.T) {
	body := `{"model":"echo","system":"be brief","messages":[{"role":"user","content":"hello there"}]}`
	sameJSON(t, readAll(t, sendMessages(t, http.MethodPost, "/messages/count_tokens", body)), `{"input_tokens": 4}`)
}

// refusedMessage is the message of a refusal in Anthropic's form.
func refusedMessage(t *testing.T, body string, status int, kind string, headers ...string) string {
	t.Helper()
	resp := sendMessages(t, http.MethodPost, "/messages", body, headers...)
	var v struct {
		Type      string
		Error     struct{ Type, Message string }
		RequestID string `json:"request_id"`
	}
	answer := readAll(t, resp)
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if resp.StatusCode != status || v.Type != "error" || v.Error.Type != kind || v.RequestID == "" || v.RequestID != resp.Header.Get("Request-Id") {
		t.Errorf("%s\n%d: %s", body, resp.StatusCode, answer)
	}
	return v.Error.Message
}

func TestMessagesErrorsHaveAnthropicsTypes(t *testing.T) {
	refusedMessage(t, messagesWith(`"model":"gpt"`), 404, "not_found_error")
	refusedMessage(t, messagesWith(`"model":"fail"`), 500, "api_error")
	refusedMessage(t, "{", 400, "invalid_request_error")
}

func TestMessagesRefusesWhatItCannotRead(t *testing.T) {
	for members, want := range map[string]string{
		`"max_tokens":null`: "max_tokens: Field required",
		`"model":""`:        `missing required parameter: "model"`,
		`"messages":null`:   `missing required parameter: "messages"`,
		`"messages":[]`:     "messages is empty",
		`"messages":[{"role":"system","content":"x"}]`: "messages.0.role: ",
		`"stream":"yes"`: `not allowed in "stream"`,
		weatherTool + `,"tool_choice":{"type":"tool","name":"b"}`: `tool_choice names "b"`,
	} {
		if message := refusedMessage(t, messagesWith(members), 400, "invalid_request_error"); !strings.Contains(message, want) {
			t.Errorf("%s: %q, want %q", members, message, want)
		}
	}
}
