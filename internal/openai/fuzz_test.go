package openai_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

var seeds = []string{
	chunk(first, "null"), chunk(hello, `"stop"`), "[DONE]", `{"choices":[],"usage":` + usage + `}`,
	chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":null}},{}]}`, "null"),
	`{"error":{"message":"x","code":1}}`, `{"choices":[{"index":1e9}]}`, `{"choices":[{"delta":null,"finish_reason":5},{"index":7}]}`,
	`{"type":"response.created","response":` + begun + `}`, `{"type":"error"}`, `{"type":"response.completed","response":{}}`,
	"{\"choices\":\n[{\"delta\":{\"role\":1,\"role\":2}}],\"id\":\"\",\"created\":-1}",
}

// FuzzStreams feeds any two events to every stream: what comes out is SSE of
// valid JSON, ends once, and nothing panics.
func FuzzStreams(f *testing.F) {
	for i, a := range seeds {
		f.Add("", []byte(a), []byte(seeds[(i+1)%len(seeds)]))
	}
	f.Add("error", []byte("{}"), []byte("x"))
	f.Fuzz(func(t *testing.T, name string, a, b []byte) {
		if strings.ContainsAny(name, "\r\n") {
			return
		}
		usageAsked := newCall()
		usageAsked.IncludeUsage = true
		for _, s := range []openai.Stream{openai.NewChatStream(newCall()), openai.NewChatStream(usageAsked), openai.NewResponsesStream(newCall())} {
			var out []byte
			var events openai.Events
			for _, data := range [][]byte{a, b, a} {
				before := bytes.Clone(data)
				out = s.Data(out, events.Next([]byte(name), data))
				if !bytes.Equal(before, data) {
					t.Fatal("the event was written to")
				}
			}
			out, err := s.Close(out, nil)
			if err != nil && s.Summary().Err == nil {
				out, _ = s.Close(out, apierror.New(apierror.UpstreamError, "cut"))
			}
			n := len(out)
			if out, _ = s.Close(out, apierror.New(apierror.UpstreamError, "again")); len(out) != n {
				t.Fatalf("two ends: %q", out)
			}
			if !s.Done() || n == 0 {
				t.Fatalf("no end: %q", out)
			}
			all := payloads(t, string(out))
			for i, p := range all {
				if p == "[DONE]" {
					if i != len(all)-1 || s.Summary().Err != nil {
						t.Fatalf("[DONE] is not the proper end: %q", out)
					}
					continue
				}
				v := decode(t, p)
				if _, ok := s.(*openai.ChatStream); ok && v["error"] == nil {
					checkChunk(t, p, v)
				}
			}
		}
	})
}

func checkChunk(t *testing.T, p string, v map[string]any) {
	if _, ok := v["error"]; ok || v["model"] != "fake/echo" || v["object"] != "chat.completion.chunk" || v["id"] == "" {
		t.Fatalf("bad chunk: %s", p)
	}
	for _, c := range v["choices"].([]any) {
		c := c.(map[string]any)
		if _, ok := c["index"].(float64); !ok {
			t.Fatalf("no index: %s", p)
		}
		if _, ok := c["delta"].(map[string]any); !ok {
			t.Fatalf("no delta: %s", p)
		}
	}
}

func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"choices":[{"message":{"content":"x","tool_calls":[{}]}}],"usage":` + usage + `}`))
	f.Add([]byte(ended))
	f.Add([]byte(`{"error":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if out, _, err := openai.ChatResult(nil, body, newCall()); err == nil {
			if v := decode(t, string(out)); v["model"] != "fake/echo" || v["error"] != nil {
				t.Fatalf("%s", out)
			}
		}
		if out, _, err := openai.ResponsesResult(nil, body, newCall()); err == nil {
			if v := decode(t, string(out)); v["model"] != "fake/echo" {
				t.Fatalf("%s", out)
			}
		}
	})
}
