package responsesonchat_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

func BenchmarkDelta(b *testing.B) {
	chat := []byte(`{"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"echo","choices":[{"index":0,"delta":{"content":" hello"},"finish_reason":null}]}`)
	native := []byte(`{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" hello","logprobs":[]}`)
	original := originalOf(b, plainRequest)
	var out []byte
	var events openai.Events
	b.Run("translated", func(b *testing.B) {
		b.ReportAllocs()
		var s *chunks.Stream
		for i := 0; b.Loop(); i++ {
			if i%1000 == 0 {
				s = responsesonchat.NewStream(original, translatetest.NewCall(), counter{})
			}
			out = s.Data(out[:0], events.Next(nil, chat))
		}
	})
	b.Run("native", func(b *testing.B) {
		b.ReportAllocs()
		s := openai.NewResponsesStream(translatetest.NewCall())
		for b.Loop() {
			out = s.Data(out[:0], events.Next(nil, native))
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	body := `{"model":"fake/echo","stream":true,"instructions":"Be brief.","input":[{"role":"user","content":[{"type":"input_text","text":"hi there"}]}],"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := translateBody(body, responsesonchat.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
