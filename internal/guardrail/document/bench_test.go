package document_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

// walked are bodies and an event whose shapes cost a walk most.
var walked = []struct {
	name, text string
	answer     bool
}{
	{"prose", `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("the quick brown fox jumps over the lazy dog, ", 2000) + `"}]}`, false},
	{"quotes", `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat(`an escaped quote every 35 bytes, \"`, 2000) + `"}]}`, false},
	{"accents", `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("naïve café, 東京 and Ελλάδα: ", 2000) + `"}]}`, false},
	{"turns", `{"model":"m","messages":[` + strings.Repeat(`{"role":"user","content":[{"type":"text","text":"hello"}]},{"role":"assistant","content":"x"},`, 500) + `{}]}`, false},
	{"tools", `{"model":"m","tools":[` + strings.Repeat(`{"type":"function","name":"exec","strict":false,"parameters":{"type":"object","properties":{`+
		`"cmd":{"type":"string","description":"the command that is run"},"login":{"type":"boolean","default":false},"limit":{"type":"integer","minimum":1}},"required":["cmd"]}},`, 200) + `{}]}`, false},
	{"arguments", `{"model":"m","messages":[` + strings.Repeat(`{"role":"assistant","tool_calls":[{"id":"call_1","function":{"name":"f","arguments":{"a":[1,2,3],"b":{"c":"d"}}}}]},`, 300) + `{}]}`, false},
	{"event", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`, true},
}

func BenchmarkWalker(b *testing.B) {
	for _, c := range walked {
		b.Run(c.name, func(b *testing.B) {
			body := []byte(c.text)
			var frames []document.Frame
			strings := 0
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				w := document.Walker{Data: body, Answer: c.answer, Event: c.answer, Frames: frames}
				w.Visit = func(document.Span) { strings++ }
				w.Walk()
				frames = w.Frames
			}
			if strings == 0 {
				b.Fatal("no string was visited")
			}
		})
	}
}
