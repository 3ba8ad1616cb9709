package detect_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
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
	fast, slow := redacting(largestWindow, must(detect.Secrets())), redacting(largestWindow, must(detect.SlowSecretsOf(detect.RuleSet())))
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

// A secret that is longer than what is kept of a text is found or not. That depends on where it
// begins, because the text is dropped in steps.
func TestTextIsDroppedWhereTheSlowScannerDropsIt(t *testing.T) {
	const rules = `BEGIN([a-z]*)END`
	fast, slow := redacting(0, must(detect.SecretsOf(rule(rules, "")))), redacting(0, must(detect.SlowSecretsOf(rule(rules, ""))))
	secret := func(length int) string { return "BEGIN" + strings.Repeat("k", length) + "END" }
	for _, first := range []string{"", secret(1), secret(700), secret(3000)} {
		for _, before := range []int{0, 500, 1000, 1018, 1019, 1020, 1300, 1530, 1531, 1532, 2000} {
			for _, length := range []int{8100, 15_400, 15_650, 15_900, 16_150, 16_400, 16_500} {
				text := first + strings.Repeat("é", before) + secret(length) + " "
				if got, want := fast.whole(text), slow.whole(text); got != want {
					t.Errorf("%d characters after %d and %d: %d bytes, want %d", length, len(first), before, len(got), len(want))
				}
			}
		}
	}
}

func TestLookaheadsStartOverWhenTheirMemoryIsFull(t *testing.T) {
	var wait sync.WaitGroup
	for part := range 4 {
		wait.Go(func() {
			set := redacting(0, must(detect.Secrets()))
			for n := range 200 {
				detect.FillAheadMemory()
				text := fmt.Sprint(" api_key_", n*part, strings.Repeat("x", n%8), " = \"8f3bKq2LmZx91Rtw5Vy7\"")
				if want := strings.Replace(text, "8f3bKq2LmZx91Rtw5Vy7", mark, 1); set.whole(text) != want {
					t.Errorf("%s: %s", text, set.whole(text))
				}
			}
		})
	}
	wait.Wait()
}

// The letters U+017F and U+212A are equal to s and k where case is ignored.
func TestLettersThatFoldToASCIIBeginSecrets(t *testing.T) {
	finds(t, must(detect.Secrets()), "my \u017fecret = \"⟦8f3bKq2LmZx91Rtw5Vy7⟧\"", "my \u212aey = \"⟦8f3bKq2LmZx91Rtw5Vy7⟧\"", "my to\u212aen = \"⟦8f3bKq2LmZx91Rtw5Vy7⟧\"")
}

func TestLettersOutsideASCIIAreTakenApart(t *testing.T) {
	finds(t, must(detect.SecretsOf(rule(`key=([é-ü][a-z]{3})`, ""))), "a key=⟦éabc⟧", "a key=東abc", "a key=xabc")
	finds(t, must(detect.SecretsOf(rule(`key=([^a]b)`, ""))), "a key=⟦東b⟧", "a key=ab")
}
