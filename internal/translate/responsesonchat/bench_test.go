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

// round is a turn of each side with a call, number %[1]d.
const round = `{"role":"user","content":[{"type":"input_text","text":"what is in file %[1]d?"}]},{"type":"message","role":"assistant","content":[` +
	`{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"call_%[1]d","name":"read_file","arguments":"{\"path\":\"/a/%[1]d\"}"},` +
	`{"type":"function_call_output","call_id":"call_%[1]d","output":"` + translatetest.Words + `"},`

func BenchmarkRequest(b *testing.B) {
	for name, body := range map[string]string{
		"short": `{"model":"fake/echo","stream":true,"instructions":"Be brief.","input":[{"role":"user","content":[{"type":"input_text","text":"hi there"}]}],"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`,
		"long":  translatetest.LongRequest(`{"model":"fake/echo","stream":true,"input":[`, round, `{"role":"user","content":"go on"}]`, `{"type":"function","name":"tool_%d","description":"does something","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := translateBody(body, responsesonchat.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
