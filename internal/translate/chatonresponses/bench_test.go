package chatonresponses_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
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

// round is a turn of each side with a call, number %[1]d.
const round = `{"role":"user","content":[{"type":"text","text":"what is in file %[1]d?"}]},{"role":"assistant","content":"I look.","tool_calls":[` +
	`{"id":"call_%[1]d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"/a/%[1]d\"}"}}]},` +
	`{"role":"tool","tool_call_id":"call_%[1]d","content":"` + translatetest.Words + `"},`

func BenchmarkRequest(b *testing.B) {
	for name, body := range map[string]string{
		"short": `{"model":"fake/echo","stream":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"hi there"}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`,
		"long":  translatetest.LongRequest(`{"model":"fake/echo","stream":true,"messages":[`, round, `{"role":"user","content":"go on"}]`, `{"type":"function","function":{"name":"tool_%d","description":"does something","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := translateBody(body, chatonresponses.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
