package detect_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// ordinary are parts of ordinary texts in which anchors of rules begin, end or fold.
var ordinary = []string{
	"they say that the key is under the mat", "books.json", "api", "apI_KEY", "s.", "sk", "\u017fecret", "to\u212aen", "to\u212a", " = ", ": \"", "東京 token 東京", "é", "\n", "\t", "desk.sky",
	"secret", "acces", "access", "authtoken", "curl ", "curl -u ", "-----BEGIN", "-----BEGIN RSA PRIVATE KEY-----", "facebook", "sourcegraph", "0123456789abcdef", "x", "sk-ant-api03-", "eyJ", "key=",
	strings.Repeat("no rule looks for this ", 60), strings.Repeat("密", 600), strings.Repeat("k", 300),
}

// Neither where the fast scanner skips text, nor where a text is cut, changes what is found.
func FuzzSecretsAreThoseOfTheSlowScanner(f *testing.F) {
	rules, err := detect.SecretRules()
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(400) {
		f.Add(seed)
	}
	fast, slow := redacting(largestWindow, must(detect.Secrets())), redacting(largestWindow, must(detect.SlowSecrets()))
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := ""
		for range r.IntN(12) {
			if r.IntN(4) == 0 {
				text += secretText(rules, r)
			} else {
				text += ordinary[r.IntN(len(ordinary))]
			}
		}
		want := slow.whole(text)
		if got := fast.whole(text); got != want {
			t.Errorf("seed %d: %q\nfast %q\nslow %q", seed, text, got, want)
		}
		cuts := make([]byte, r.IntN(200))
		for i := range cuts {
			cuts[i] = byte(r.IntN(1 + r.IntN(40)))
		}
		if got, _ := fast.pieces(cut(text, cuts)); got != want {
			t.Errorf("seed %d: %q\npieces %q\nslow   %q", seed, text, got, want)
		}
	})
}
