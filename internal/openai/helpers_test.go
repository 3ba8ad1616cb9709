package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func newCall() openai.Call {
	return openai.Call{
		Model: "fake/echo", ID: "gen-1", Created: 1700000001, Provider: "fake",
		Redact: func(s string) string { return strings.ReplaceAll(s, "canary", "[redacted]") },
	}
}

// event is one event of a provider, [name, data] or [data].
func feed(s openai.Stream, events ...string) string {
	var out []byte
	var wire openai.Events
	for _, e := range events {
		name, data, named := strings.Cut(e, "|")
		if !named {
			name, data = "", e
		}
		out = s.Data(out, wire.Next([]byte(name), []byte(data)))
	}
	return string(out)
}

func finish(t testing.TB, s openai.Stream) string {
	t.Helper()
	out, err := s.Close(nil, nil)
	if err != nil {
		t.Fatalf("close: %v", err)
	}
	return string(out)
}

// payloads are the data of the events in an SSE text, which must be well formed.
func payloads(t testing.TB, text string) []string {
	t.Helper()
	if text == "" {
		return nil
	}
	if !strings.HasSuffix(text, "\n\n") {
		t.Fatalf("the last event is not ended: %q", text)
	}
	var all []string
	for _, e := range strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		lines := strings.Split(e, "\n")
		if len(lines) == 2 && strings.HasPrefix(lines[0], "event: ") {
			lines = lines[1:]
		}
		data, ok := strings.CutPrefix(lines[0], "data: ")
		if len(lines) != 1 || !ok || data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Fatalf("not a good event: %q", e)
		}
		all = append(all, data)
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
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if a, b := encode(g), encode(w); a != b {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

func chunk(delta, finish string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"echo","choices":[{"index":0,"delta":` +
		delta + `,"finish_reason":` + finish + `}]}`
}

const (
	first = `{"role":"assistant","content":""}`
	hello = `{"content":"hello"}`
	usage = `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`
)
