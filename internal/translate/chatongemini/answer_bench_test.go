package chatongemini_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
)

// benchWire is an answer with so many pieces of text as the Gemini API streams it.
func benchWire(pieces int) string {
	var wire strings.Builder
	for i := range pieces {
		finish := ""
		if i == pieces-1 {
			finish = `,"finishReason": "STOP"`
		}
		fmt.Fprintf(&wire, `data: {"candidates": [{"content": {"parts": [{"text": " word %d of \"main.go\","}],"role": "model"}%s,"index": 0}],"usageMetadata": {"promptTokenCount": 9,"candidatesTokenCount": %d,"totalTokenCount": %d,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 9}]},"modelVersion": "gemini-2.5-flash","responseId": "qK0iaaaaBbbbCcccDdddEe"}`+"\r\n\r\n",
			i, finish, i+1, i+10)
	}
	return wire.String()
}

// benchMessages is the same as the Messages API streams it.
func benchMessages(pieces int) string {
	var wire strings.Builder
	event := func(name, rest string) {
		fmt.Fprintf(&wire, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", name, name, rest)
	}
	event("message_start", `,"message":{"id":"msg_0123456789abcdefghijkl","type":"message","role":"assistant","model":"claude-haiku-4-5","content":[],"usage":{"input_tokens":9,"output_tokens":1}}`)
	event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for i := range pieces {
		event("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"text_delta","text":" word %d of \"main.go\","}`, i))
	}
	event("content_block_stop", `,"index":0`)
	event("message_delta", `,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":64}`)
	event("message_stop", "")
	return wire.String()
}

// BenchmarkStream is an answer of 64 pieces of text on its way to a caller of chat completions,
// from the bytes of the provider to those for the client; the second is what a provider of the
// Messages API costs.
func BenchmarkStream(b *testing.B) {
	const pieces = 64
	gemini, messages := benchWire(pieces), benchMessages(pieces)
	original := chatongemini.Asked{}.Original()
	b.Run("gemini", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			drain(b, openai.NewChatStream(translatetest.NewCall()), original.Stream(strings.NewReader(gemini), translatetest.NewCall(), nil))
		}
	})
	b.Run("adapter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n, err := io.Copy(io.Discard, original.Stream(strings.NewReader(gemini), translatetest.NewCall(), nil)); n == 0 || err != nil {
				b.Fatal(n, err)
			}
		}
	})
	b.Run("messages", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := chatonmessages.NewStream(new(chatonmessages.Original), translatetest.NewCall(), openai.NewChatStream(translatetest.NewCall()))
			drain(b, s, strings.NewReader(messages))
		}
	})
}

// drain feeds a stream as the gateway does.
func drain(b *testing.B, s openai.Stream, body io.Reader) {
	var events openai.Events
	var out []byte
	reader := sse.NewReader(body, 1<<20)
	defer reader.Release()
	for !s.Done() {
		event, err := reader.Next()
		if err != nil {
			b.Fatal(err)
		}
		e := events.Next(event.Name, event.Data)
		out = s.Data(out[:0], e)
		e.Release()
		for received := reader.Received(); !s.Done(); {
			e, size := events.Repeated(received)
			if size == 0 {
				break
			}
			received = received[size:]
			reader.Skip(size)
			out = s.Data(out[:0], e)
			e.Release()
		}
	}
	if _, err := s.Close(out[:0], nil); err != nil {
		b.Fatal(err)
	}
}
