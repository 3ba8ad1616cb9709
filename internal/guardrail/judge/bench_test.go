package judge_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

var measured = []struct {
	name string
	rule judge.Rule
}{
	{"email", judge.Rule{Detector: judge.Email}},
	{"card", judge.Rule{Detector: judge.Card}},
	{"words", judge.Rule{Detector: judge.Words, Words: strings.Fields(manyWords)}},
	{"secrets", judge.Rule{Detector: judge.Secrets}},
	{"regexp", judge.Rule{Detector: judge.Regexp, Pattern: `(?i)\bproject[- ]?[a-z]{3,10}\b`}},
}

var manyWords = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec " +
	"mercury venus earth mars jupiter saturn uranus neptune pluto ceres eris haumea makemake sedna quaoar orcus"

func BenchmarkRequest(b *testing.B) {
	set := all(b)
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("The quick brown fox jumps over the lazy dog. ", 90) + `"}]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if result, err := set.Request(context.Background(), body); err != nil || result.Verdict != nil {
			b.Fatal(result, err)
		}
	}
}

// all is a guardrail with a rule of each kind.
func all(t testing.TB) guardrail.Set {
	spec := judge.Spec{Name: "all"}
	for _, m := range measured {
		m.rule.Action = judge.Redact
		spec.Rules = append(spec.Rules, m.rule)
	}
	return compiled(t, spec)
}

func BenchmarkStreamEvent(b *testing.B) {
	set := all(b)
	for _, c := range []struct {
		api        string
		wire       guardrail.Wire
		name, data string
	}{
		{"chat", guardrail.Chat, "", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`},
		{"responses", guardrail.Responses, "response.output_text.delta", `{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" word","logprobs":[]}`},
		{"messages", guardrail.Messages, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word"}}`},
	} {
		b.Run(c.api, func(b *testing.B) {
			s := newWire(set, c.wire)
			b.ReportAllocs()
			for b.Loop() {
				if _, v, err := s.push(c.name, c.data); v != nil || err != nil {
					b.Fatal(v, err)
				}
			}
		})
	}
}
