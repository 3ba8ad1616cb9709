package sse_test

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// chunk is a chat chunk of the usual size.
const chunk = `data: {"id":"chatcmpl-9xK2","object":"chat.completion.chunk","created":1700000000,` +
	`"model":"test/echo","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n"

// repeating repeats a stream without end, at most step bytes per read.
type repeating struct {
	stream   string
	at, step int
}

func (l *repeating) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), l.step)], l.stream[l.at:])
	l.at = (l.at + n) % len(l.stream)
	return n, nil
}

func BenchmarkNext(b *testing.B) {
	for _, bench := range []struct {
		name, event string
		step        int
	}{
		{"chunk/paced", chunk, len(chunk)},
		{"chunk/coalesced", chunk, 1 << 20},
		{"named/coalesced", "event: response.output_text.delta\n" + chunk, 1 << 20},
		{"line1M/16K", "data: " + strings.Repeat("x", 1<<20) + "\n\n", 16 << 10},
	} {
		b.Run(bench.name, func(b *testing.B) {
			reader := sse.NewReader(&repeating{stream: strings.Repeat(bench.event, 64), step: bench.step}, 2<<20)
			b.SetBytes(int64(len(bench.event)))
			b.ReportAllocs()
			for b.Loop() {
				event, err := reader.Next()
				if err != nil {
					b.Fatal(err)
				}
				if !reader.Buffered() {
					io.Discard.Write(event.Raw)
				}
			}
		})
	}
}
