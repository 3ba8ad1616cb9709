package guardrail_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// samples are texts such as chats hold, and two that no chat holds.
var samples = []struct{ name, text string }{
	{"prose", strings.Repeat("The quick brown fox jumps over the lazy dog, and they say that the key to the money is under the mat. ", 1000)},
	{"code", strings.Repeat("func (s *server) handle(w http.ResponseWriter, r *http.Request) { token := r.Header.Get(\"Authorization\"); id := 1234567 }\n", 900)},
	{"cjk", strings.Repeat("東京都は日本の首都であり、人口は千三百万人を超える。", 1400)},
	{"dense", strings.Repeat("twitter_api_key=abcdef1234567890 a.b@c.de 4111 1111 1111 1111 eyJ sk-ant AKIA ghp_ ", 1200)},
	// What costs most of all that was tried: machines that run to the end of
	// all they may read.
	{"hostile", strings.Repeat("curl\ncurl -u a: sk-ant-api03-aaaaaaaaaaaaaaaaa -----BEGIN RSA PRIVATE KEY-----twitter=facebook=cloudflare=", 1000)},
}

var measured = []struct {
	name string
	rule guardrail.Rule
}{
	{"email", guardrail.Rule{Detector: guardrail.Email}},
	{"card", guardrail.Rule{Detector: guardrail.Card}},
	{"words", guardrail.Rule{Detector: guardrail.Words, Words: strings.Fields(manyWords)}},
	{"secrets", guardrail.Rule{Detector: guardrail.Secrets}},
	{"regexp", guardrail.Rule{Detector: guardrail.Regexp, Pattern: `(?i)\bproject[- ]?[a-z]{3,10}\b`}},
}

var manyWords = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec " +
	"mercury venus earth mars jupiter saturn uranus neptune pluto ceres eris haumea makemake sedna quaoar orcus"

func BenchmarkDetectors(b *testing.B) {
	for _, m := range measured {
		set := redacting(b, m.rule, 0)
		for _, sample := range samples {
			b.Run(m.name+"/"+sample.name, func(b *testing.B) {
				read := guardrail.Reader(set)
				b.SetBytes(int64(len(sample.text)))
				for b.Loop() {
					read(sample.text)
				}
			})
		}
	}
}

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
func all(t testing.TB) *guardrail.Set {
	spec := guardrail.Spec{Name: "all"}
	for _, m := range measured {
		m.rule.Action = guardrail.Redact
		spec.Rules = append(spec.Rules, m.rule)
	}
	return compiled(t, spec)
}

func BenchmarkStreamEvent(b *testing.B) {
	set := all(b)
	s := set.Stream(guardrail.Chat)
	data := []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, v, err := s.Push(nil, data); v != nil || err != nil {
			b.Fatal(v, err)
		}
	}
}

// BenchmarkHeldFinds reads a text in which a match that never ends holds all
// other finds back: twice the text may cost twice as much.
func BenchmarkHeldFinds(b *testing.B) {
	set := compiled(b, guardrail.Spec{Name: "g", Rules: []guardrail.Rule{
		{Action: guardrail.Redact, Detector: guardrail.Words, Words: []string{"word"}},
		{Action: guardrail.Redact, Detector: guardrail.Regexp, Pattern: `(?s)BEGIN.*END`},
	}})
	for _, size := range []int{4 << 20, 8 << 20, 16 << 20} {
		const unit = "word and so on, up to what no rule looks for, and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, and on. "
		text := "BEGIN " + strings.Repeat(unit, size/len(unit))
		b.Run(strconv.Itoa(size>>20)+"MiB", func(b *testing.B) {
			read := guardrail.Reader(set)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				read(text)
			}
		})
	}
}
