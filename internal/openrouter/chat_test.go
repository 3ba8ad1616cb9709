package openrouter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

func newCall() openrouter.Call {
	return openrouter.Call{
		Call: openai.Call{Model: "fake/echo", ID: "gen-1", Created: 1700000001, Provider: "fake",
			Redact: func(s string) string { return strings.ReplaceAll(s, "canary", "[redacted]") }},
		Cost: func(u openai.Usage) []byte { return []byte("0.0015") },
	}
}

// nulls are the members that a provider sends as null and the SDKs reject.
const nulls = `{"id":"c1","object":"chat.completion.chunk","created":1700000000.5,"model":"echo","system_fingerprint":null,"usage":null,"error":null,` +
	`"service_tier":null,"choices":[{"index":0,"logprobs":null,"delta":{"role":null,"content":null,"refusal":null,"tool_calls":null,"audio":null,"reasoning_details":null}}]}`

func TestTrap4NoChunkHasANullThatEndsTheStream(t *testing.T) {
	s := openrouter.NewChatStream(newCall())
	out := feed(s, nulls, strings.Replace(nulls, `"tool_calls":null`, `"tool_calls":[{"index":0,"id":"a","type":null,"function":{"name":"f","arguments":null}}]`, 1))
	got := payloads(t, out)
	same(t, got[0], `{"id":"gen-1","object":"chat.completion.chunk","created":1700000000,"model":"fake/echo","provider":"fake","service_tier":null,`+
		`"choices":[{"index":0,"logprobs":null,"finish_reason":null,"delta":{"role":"assistant","content":null,"refusal":null}}]}`)
	same(t, got[1], `{"id":"gen-1","object":"chat.completion.chunk","created":1700000000,"model":"fake/echo","provider":"fake","service_tier":null,`+
		`"choices":[{"index":0,"logprobs":null,"finish_reason":null,"delta":{"content":null,"refusal":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f"}}]}}]}`)
}

func TestTrap6AResultHasWhatTheSDKsDemand(t *testing.T) {
	body := `{"id":"c1","object":"chat.completion","created":1700000000.5,"model":"echo","usage":null,"choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"hi","tool_calls":null,"audio":null,"reasoning_content":"hm"},"finish_reason":"eos"}]}`
	got, sum, err := openrouter.ChatResult(nil, []byte(body), newCall())
	if err != nil {
		t.Fatal(err)
	}
	same(t, string(got), `{"id":"gen-1","object":"chat.completion","created":1700000000,"model":"fake/echo","provider":"fake","system_fingerprint":null,"choices":[{"index":0,`+
		`"message":{"role":"assistant","content":"hi","reasoning_content":"hm","reasoning":"hm"},"finish_reason":"stop","native_finish_reason":"eos"}]}`)
	if sum.UpstreamID != "c1" || sum.Finish != "stop" || sum.NativeFinish != "eos" {
		t.Fatalf("%+v", sum)
	}
}

func TestUsageHasOurCostAndNoNulls(t *testing.T) {
	body := `{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,` +
		`"prompt_tokens_details":{"cached_tokens":null,"audio_tokens":null,"x":1},"completion_tokens_details":null,"is_byok":null,"cost":9,"cost_details":{"upstream_inference_cost":null},"z":{}}}`
	want := map[string]string{
		"known":   `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"x":1,"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0},"is_byok":false,"cost":0.0015,"z":{}}`,
		"unknown": `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"x":1,"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0},"is_byok":false,"z":{}}`,
	}
	for name, cost := range map[string]func(openai.Usage) []byte{"known": newCall().Cost, "unknown": nil} {
		call := newCall()
		call.Cost = cost
		got, _, err := openrouter.ChatResult(nil, []byte(body), call)
		if err != nil {
			t.Fatal(err)
		}
		same(t, encode(decode(t, string(got))["usage"]), want[name])
	}
}

func TestGoodUsagePassesAsItCame(t *testing.T) {
	good := `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"cost":0.0015,"is_byok":true,"cost_details":{"upstream_inference_cost":null,"upstream_inference_prompt_cost":0,"upstream_inference_completions_cost":0},` +
		`"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}`
	got, _, err := openrouter.ChatResult(nil, []byte(`{"choices":[{"message":{}}],"usage":`+good+`}`), newCall())
	if err != nil || !strings.Contains(string(got), good) {
		t.Fatalf("%s %v", got, err)
	}
}

func TestUsageComesOnceInTheLastChunkWithoutBeingAskedFor(t *testing.T) {
	s := openrouter.NewChatStream(newCall())
	inline := `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`
	last := `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	if out := feed(s, inline, last, "[DONE]"); strings.Contains(out, "usage") {
		t.Fatal(out)
	}
	out, err := s.Close(nil, nil)
	got := payloads(t, string(out))
	if err != nil || len(got) != 2 || got[1] != "[DONE]" {
		t.Fatalf("%q %v", got, err)
	}
	same(t, got[0], `{"id":"gen-1","object":"chat.completion.chunk","created":1700000001,"model":"fake/echo","provider":"fake","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,`+
		`"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0},"cost":0.0015,"is_byok":false}}`)

	s = openrouter.NewChatStream(newCall())
	feed(s, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
	if out, err := s.Close(nil, nil); err != nil || string(out) != "data: [DONE]\n\n" {
		t.Fatalf("usage of nobody's: %q %v", out, err)
	}
}

func TestTrap10AnErrorInAStreamIsAFullChunk(t *testing.T) {
	for name, s := range map[string]*openai.ChatStream{"first": openrouter.NewChatStream(newCall()), "later": openrouter.NewChatStream(newCall())} {
		if name == "later" {
			feed(s, `{"id":"c1","created":1700000001,"choices":[{"delta":{"content":"x"}}]}`)
		}
		out := feed(s, `{"error":{"code":429,"message":"canary","metadata":{"error_type":"rate_limit_exceeded"}}}`, `{"choices":[]}`, "[DONE]")
		got := payloads(t, out)
		if len(got) != 1 {
			t.Fatalf("%s: %q", name, out)
		}
		same(t, got[0], `{"id":"gen-1","object":"chat.completion.chunk","created":1700000001,"model":"fake/echo","provider":"fake","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],`+
			`"error":{"code":429,"message":"provider \"fake\" limits the rate of its requests","metadata":{"error_type":"rate_limit_exceeded","provider_name":"fake"}}}`)
		if end, err := s.Close(nil, nil); err == nil || len(end) > 0 {
			t.Fatalf("%s: a second end %q %v", name, end, err)
		}
	}
}

func TestTrap9ACutStreamNeverLooksWhole(t *testing.T) {
	s := openrouter.NewChatStream(newCall())
	feed(s, `{"choices":[{"delta":{"content":"x"}}]}`)
	if out, err := s.Close(nil, nil); !errors.Is(err, openai.ErrCut) || len(out) > 0 {
		t.Fatalf("%q %v", out, err)
	}
	out, _ := s.Close(nil, apierror.New(apierror.UpstreamTimeout, "too slow"))
	v := decode(t, payloads(t, string(out))[0])
	if v["error"].(map[string]any)["code"] != 502.0 || strings.Contains(string(out), "[DONE]") {
		t.Fatalf("%s", out)
	}
}

func TestAChunkCostsNoAllocation(t *testing.T) {
	s := openrouter.NewChatStream(newCall())
	data := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"echo","system_fingerprint":null,"usage":null,"choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`)
	dst := make([]byte, 0, 4096)
	var events openai.Events
	pass := func() { s.Data(dst, events.Next(nil, data)) }
	pass()
	if n := testing.AllocsPerRun(100, pass); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkChatChunk(b *testing.B) {
	s := openrouter.NewChatStream(newCall())
	data := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"echo","system_fingerprint":null,"usage":null,"choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`)
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	var events openai.Events
	for b.Loop() {
		s.Data(dst, events.Next(nil, data))
	}
}

func BenchmarkChatResult(b *testing.B) {
	call, dst := newCall(), make([]byte, 0, 4096)
	body := []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"echo","choices":[{"index":0,"message":{"role":"assistant","content":"` +
		strings.Repeat("eight words of prose in a line,\\n", 16) + `","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":19,"completion_tokens":128,"total_tokens":147,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},` +
		`"system_fingerprint":"fp_0123456789"}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := openrouter.ChatResult(dst, body, call); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzChat holds every chunk and result to what the SDKs validate.
func FuzzChat(f *testing.F) {
	f.Add([]byte(nulls))
	f.Add([]byte(`{"choices":[{"delta":{"tool_calls":[{"index":null,"id":null,"function":null}]},"message":{"tool_calls":[{"function":{}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"is_byok":null}}`))
	f.Add([]byte(`{"error":{"code":"x"}}`))
	f.Add([]byte("[DONE]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := openrouter.NewChatStream(newCall())
		var events openai.Events
		out := s.Data(s.Data(nil, events.Next(nil, data)), events.Next(nil, data))
		out, err := s.Close(out, nil)
		if errors.Is(err, openai.ErrCut) {
			out, _ = s.Close(out, apierror.New(apierror.UpstreamError, "cut"))
		}
		for _, p := range payloads(t, string(out)) {
			if p != "[DONE]" {
				checkChunk(t, decode(t, p))
			}
		}
		if out, _, err := openrouter.ChatResult(nil, data, newCall()); err == nil {
			checkResult(t, decode(t, string(out)))
		}
	})
}
