package detect_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// samples are texts as chats have them, and two unusual ones.
var samples = []struct{ name, text string }{
	{"prose", strings.Repeat("The quick brown fox jumps over the lazy dog, and they say that the key to the money is under the mat. ", 1000)},
	{"code", strings.Repeat("func (s *server) handle(w http.ResponseWriter, r *http.Request) { token := r.Header.Get(\"Authorization\"); id := 1234567 }\n", 900)},
	{"cjk", strings.Repeat("東京都は日本の首都であり、人口は千三百万人を超える。", 1400)},
	{"dense", strings.Repeat("twitter_api_key=abcdef1234567890 a.b@c.de 4111 1111 1111 1111 eyJ sk-ant AKIA ghp_ ", 1200)},
	// The most expensive text that was tried: machines run to the end of all they may read.
	{"hostile", strings.Repeat("curl\ncurl -u a: sk-ant-api03-aaaaaaaaaaaaaaaaa -----BEGIN RSA PRIVATE KEY-----twitter=facebook=cloudflare=", 1000)},
}

var measured = []struct {
	name     string
	detector *detect.Detector
}{
	{"email", must(detect.Email())},
	{"card", must(detect.Card())},
	{"words", must(detect.Words(strings.Fields(manyWords)))},
	{"secrets", must(detect.Secrets())},
	{"regexp", must(detect.Regexp(`(?i)\bproject[- ]?[a-z]{3,10}\b`))},
}

var manyWords = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec " +
	"mercury venus earth mars jupiter saturn uranus neptune pluto ceres eris haumea makemake sedna quaoar orcus"

func BenchmarkDetectors(b *testing.B) {
	for _, m := range measured {
		matcher := detect.NewMatcher(redacting(0, m.detector).rules, 0)
		for _, sample := range samples {
			b.Run(m.name+"/"+sample.name, func(b *testing.B) {
				b.SetBytes(int64(len(sample.text)))
				for b.Loop() {
					_, _ = matcher.Whole(sample.text, "", nil)
				}
			})
		}
	}
}

// BenchmarkHeldHits reads a text in which a match that never ends holds back all other hits. Twice
// the text may take twice the time.
func BenchmarkHeldHits(b *testing.B) {
	rules := redacting(0, must(detect.Words([]string{"word"})), must(detect.Regexp(`(?s)BEGIN.*END`))).rules
	for _, size := range []int{4 << 20, 8 << 20, 16 << 20} {
		const unit = "word and so on, up to what no rule looks for, and on, and on, and on, and on, and on, and on, and on, and on, and on, and on, and on. "
		text := "BEGIN " + strings.Repeat(unit, size/len(unit))
		b.Run(strconv.Itoa(size>>20)+"MiB", func(b *testing.B) {
			matcher := detect.NewMatcher(rules, 0)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = matcher.Whole(text, "", nil)
			}
		})
	}
}
