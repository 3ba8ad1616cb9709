package messagesonchat_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

func BenchmarkDelta(b *testing.B) {
	chat := []byte(`{"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"echo","choices":[{"index":0,"delta":{"content":" hello"},"finish_reason":null}]}`)
	original := originalOf(b, plainRequest)
	var out []byte
	var events openai.Events
	b.Run("translated", func(b *testing.B) {
		b.ReportAllocs()
		var s *chunks.Stream
		for i := 0; b.Loop(); i++ {
			if i%1000 == 0 {
				s = messagesonchat.NewStream(original, translatetest.NewCall(), messageID)
			}
			out = s.Data(out[:0], events.Next(nil, chat))
		}
	})
	b.Run("native", func(b *testing.B) {
		b.ReportAllocs()
		s := openai.NewChatStream(translatetest.NewCall())
		for b.Loop() {
			out = s.Data(out[:0], events.Next(nil, chat))
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	body := `{"model":"fake/echo","max_tokens":100,"stream":true,"system":[{"type":"text","text":"Be brief."}],"messages":[{"role":"user","content":[{"type":"text","text":"hi there"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := translateBody(body, messagesonchat.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
