package params_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// manyTools are forty functions of two kilobytes each, as coding agents send them.
var manyTools = `[` + strings.Repeat(`{"type":"function","name":"exec_command","description":"`+strings.Repeat("Runs a command in a shell. ", 32)+
	`","strict":false,"parameters":{"type":"object","properties":{`+strings.Repeat(`"cmd":{"type":"string","description":"the command that is run"},`, 16)+
	`"login":{"type":"boolean"}},"required":["cmd"],"additionalProperties":false}},`, 40) + `{"type":"custom","name":"apply_patch"}]`

func BenchmarkTools(b *testing.B) {
	for name, text := range map[string]string{
		"top":   `{"model":"m","input":"x","tools":` + manyTools + `}`,
		"input": `{"model":"m","input":[{"type":"additional_tools","role":"developer","tools":` + manyTools + `}]}`,
	} {
		b.Run(name, func(b *testing.B) {
			body := strict(b, text)
			b.SetBytes(int64(len(body.Data())))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := params.References(body); err != nil {
					b.Fatal(err)
				}
				if _, err := params.ResponsesLimits(body); err != nil {
					b.Fatal(err)
				}
				params.ContentOf(body)
			}
		})
	}
}

func BenchmarkReferences(b *testing.B) {
	for name, text := range map[string]string{
		"plain":  `{"role":"user","content":"` + strings.Repeat("the quick brown fox jumps over the lazy dog, ", 1<<20/45) + `"}`,
		"quotes": `{"role":"user","content":"` + strings.Repeat(`an escaped quote every 35 bytes, \"`, 1<<20/35) + `"}`,
		"parts":  `{"role":"user","content":[{"type":"text","text":"` + strings.Repeat("the quick brown fox jumps over the lazy dog, ", 1<<20/45) + `"}]}`,
		"calls": `{"role":"assistant","tool_calls":[{"id":"c1","type":"function"}]},{"role":"tool","content":"` +
			strings.Repeat("the quick brown fox jumps over the lazy dog, ", 1<<20/45) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			body := strict(b, `{"model":"m","messages":[`+text+`]}`)
			b.SetBytes(int64(len(body.Data())))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := params.References(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
