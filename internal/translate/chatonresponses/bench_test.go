package chatonresponses_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

func BenchmarkDelta(b *testing.B) {
	data := []byte(`{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" hello","logprobs":[]}`)
	original := plainOriginal(b)
	b.ReportAllocs()
	var s *chatonresponses.Stream
	var out []byte
	var events openai.Events
	for i := 0; b.Loop(); i++ {
		if i%1000 == 0 {
			s = newStream(original, false, false)
		}
		out = s.Data(out[:0], events.Next(nil, data))
	}
}

func BenchmarkRequest(b *testing.B) {
	body := `{"model":"fake/echo","stream":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"hi there"}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := translateBody(body, chatonresponses.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
