package anthropic_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// BenchmarkDelta is one event of a streamed text.
func BenchmarkDelta(b *testing.B) {
	s := anthropic.NewStream(newCall())
	out := s.Data(nil, openai.NewEvent([]byte("message_start"), []byte(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}`)))
	var events openai.Events
	name := []byte("content_block_delta")
	data := [][]byte{
		[]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" the quick"}}`),
		[]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" brown fox"}}`),
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := events.Next(name, data[i&1])
		out = s.Data(out[:0], e)
		e.Release()
	}
}
