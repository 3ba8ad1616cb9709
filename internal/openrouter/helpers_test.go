package openrouter_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func feed(s openai.Stream, events ...string) string {
	var out []byte
	var wire openai.Events
	for _, e := range events {
		out = s.Data(out, wire.Next(nil, []byte(e)))
	}
	return string(out)
}

// payloads are the data of the events in an SSE text, which must be well formed.
func payloads(t testing.TB, text string) (all []string) {
	t.Helper()
	for text != "" {
		event, rest, ended := strings.Cut(text, "\n\n")
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok || !ended || strings.Contains(data, "\n") || data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Fatalf("not a good event: %q", event)
		}
		all = append(all, data)
		text = rest
	}
	return all
}

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func encode(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// same compares two JSON texts by their values.
func same(t testing.TB, got, want string) {
	t.Helper()
	if a, b := encode(decode(t, got)), encode(decode(t, want)); a != b {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func wantInt(t *testing.T, v map[string]any, key string) {
	t.Helper()
	if n, ok := v[key].(float64); !ok || n != math.Trunc(n) {
		t.Fatalf("%s is no integer: %v", key, v)
	}
}

func wantNoNull(t *testing.T, v map[string]any, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if value, ok := v[key]; ok && value == nil {
			t.Fatalf("%s is null: %v", key, v)
		}
	}
}

func checkHead(t *testing.T, v map[string]any, object string) {
	t.Helper()
	if v["id"] != "gen-1" || v["model"] != "fake/echo" || v["object"] != object || v["provider"] != "fake" {
		t.Fatalf("head: %v", v)
	}
	wantInt(t, v, "created")
	wantNoNull(t, v, "usage", "error", "openrouter_metadata")
	if u, ok := v["usage"].(map[string]any); ok {
		for _, key := range []string{"prompt_tokens", "completion_tokens", "total_tokens"} {
			wantInt(t, u, key)
		}
		wantNoNull(t, u, "is_byok")
		wantInt(t, u["prompt_tokens_details"].(map[string]any), "cached_tokens")
		wantInt(t, u["completion_tokens_details"].(map[string]any), "reasoning_tokens")
	}
}

func checkChunk(t *testing.T, v map[string]any) {
	t.Helper()
	checkHead(t, v, "chat.completion.chunk")
	wantNoNull(t, v, "system_fingerprint")
	for _, c := range v["choices"].([]any) {
		c := c.(map[string]any)
		wantInt(t, c, "index")
		if f, ok := c["finish_reason"]; !ok {
			t.Fatalf("no finish_reason: %v", v)
		} else if _, isText := f.(string); f != nil && !isText {
			t.Fatalf("finish_reason: %v", v)
		}
		d := c["delta"].(map[string]any)
		wantNoNull(t, d, "role", "tool_calls", "audio", "images", "reasoning_details")
		if role, ok := d["role"]; ok && role != "assistant" {
			t.Fatalf("role: %v", v)
		}
		calls, _ := d["tool_calls"].([]any)
		for _, call := range calls {
			call := call.(map[string]any)
			wantInt(t, call, "index")
			wantNoNull(t, call, "id", "type", "function")
			if f, ok := call["function"].(map[string]any); ok {
				wantNoNull(t, f, "name", "arguments")
			}
		}
	}
}

func checkResult(t *testing.T, v map[string]any) {
	t.Helper()
	checkHead(t, v, "chat.completion")
	if _, ok := v["system_fingerprint"]; !ok {
		t.Fatalf("no system_fingerprint: %v", v)
	}
	for _, c := range v["choices"].([]any) {
		c := c.(map[string]any)
		wantInt(t, c, "index")
		if _, ok := c["finish_reason"].(string); !ok {
			t.Fatalf("finish_reason: %v", v)
		}
		m := c["message"].(map[string]any)
		if m["role"] != "assistant" {
			t.Fatalf("role: %v", v)
		}
		wantNoNull(t, m, "tool_calls", "audio", "images", "name", "reasoning_details")
	}
}
