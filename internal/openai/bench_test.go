package openai_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// typical is a chunk as OpenAI sends it, about 250 bytes.
const typical = `{"id":"chatcmpl-ABCDEFGHIJKLMNOPQRSTUVWXYZ012","object":"chat.completion.chunk","created":1700000000,"model":"echo-2024-07-18",` +
	`"service_tier":"default","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`

func TestAChunkCostsNoAllocation(t *testing.T) {
	asked := newCall()
	asked.IncludeUsage = true
	withUsage := typical[:len(typical)-1] + `,"usage":` + usage + `}`
	for name, c := range map[string]struct {
		stream      openai.Stream
		name, event string
	}{
		"chat":      {openai.NewChatStream(newCall()), "", typical},
		"usage":     {openai.NewChatStream(asked), "", withUsage},
		"role":      {openai.NewChatStream(newCall()), "", chunk(`{"role":"assistant","content":"x"}`, "null")},
		"responses": {openai.NewResponsesStream(newCall()), "response.output_text.delta", delta[len("response.output_text.delta|"):]},
	} {
		dst := make([]byte, 0, 4096)
		data, event := []byte(c.event), []byte(c.name)
		var events openai.Events
		pass := func() { c.stream.Data(dst, events.Next(event, data)) }
		pass()
		pass()
		if n := testing.AllocsPerRun(100, pass); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkChatChunk(b *testing.B) {
	s := openai.NewChatStream(newCall())
	dst, data := make([]byte, 0, 4096), []byte(typical)
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	var events openai.Events
	for b.Loop() {
		s.Data(dst, events.Next(nil, data))
	}
}

func BenchmarkResponsesDelta(b *testing.B) {
	s := openai.NewResponsesStream(newCall())
	name, data := []byte("response.output_text.delta"), []byte(delta[len("response.output_text.delta|"):])
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	var events openai.Events
	for b.Loop() {
		s.Data(dst, events.Next(name, data))
	}
}

// answer is a whole completion of about a kilobyte.
var answer = `{"id":"chatcmpl-ABCDEFGHIJKLMNOPQRSTUVWXYZ012","object":"chat.completion","created":1700000000,"model":"echo-2024-07-18",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("eight words of prose in a line,\\n", 16) +
	`","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":128,"total_tokens":147,` +
	`"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}},` +
	`"service_tier":"default","system_fingerprint":"fp_0123456789"}`

func BenchmarkChatResult(b *testing.B) {
	call, body, dst := newCall(), []byte(answer), make([]byte, 0, 4096)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := openai.ChatResult(dst, body, call); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRepairedResult is the same answer where a shape wants every member looked at.
func BenchmarkRepairedResult(b *testing.B) {
	call, body, dst := newCall(), []byte(answer), make([]byte, 0, 4096)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := openai.ShapedResult(dst, body, call, openai.Shape{}); err != nil {
			b.Fatal(err)
		}
	}
}
