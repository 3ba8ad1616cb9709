package detect_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// rawParts are parts of JSON strings.
var rawParts = []string{
	`\n`, `\t`, `\\`, `\"`, `\r\n`, `\b`, `\f`, `\/`, `\u0041`, `\u0040`, `\\u`, `key`, `\token`, `\\token`, `api_key = \"8f3bKq2LmZx91Rtw5Vy7\"`, `\napi_key: 8f3bKq2LmZx91Rtw5Vy7\n`, `secret`, ` = `, `=\t`, `8f3bKq2LmZx91Rtw5Vy7`,
	`s.aBcDeFgHiJkLmNoPqRsTuVwX`, `s.books`, `AKIAQYLPMN5HHHFPZAM2`, `a@b.de`, `@`, `4111 1111 1111 1111`, `4111`, ` `, `x`, `é`, `東京`, `\u017fecret`, "\u017fecret", `facebook`, "some words of a text that has nothing in it, ",
}

// usualDetectors are those of most operators.
var usualDetectors = []*detect.Detector{must(detect.Secrets()), must(detect.Email()), must(detect.Card())}

func FuzzNothingIsFoundInCleanTexts(f *testing.F) {
	rules, err := detect.SecretRules()
	if err != nil {
		f.Fatal(err)
	}
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	m := detect.NewMatcher(redacting(0, usualDetectors...).rules, 0)
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 6))
		raw := ""
		for range r.IntN(10) {
			if r.IntN(6) == 0 {
				encoded, _ := json.Marshal(secretText(rules, r))
				raw += strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(encoded[1 : len(encoded)-1]))
			} else {
				raw += rawParts[r.IntN(len(rawParts))]
			}
		}
		var text string
		if err := json.Unmarshal([]byte(`"`+raw+`"`), &text); err != nil {
			t.Skip()
		}
		if !m.Clean(raw) {
			return
		}
		if edits, err := m.Whole(text, "", nil); err != nil || len(edits) > 0 {
			t.Errorf("seed %d: %s is clean, but has %v, %v", seed, raw, edits, err)
		}
	})
}

func TestTextsThatAreClean(t *testing.T) {
	usual := detect.NewMatcher(redacting(0, usualDetectors...).rules, 0)
	for raw, want := range map[string]bool{
		``: true, `the key to the door, they say`: true, `\ts.books[name] = b\n`: true, `var api = \"x\";\n`: true, `in 2024`: true, `a \\d, b`: true, `die Schlüssel: 東京`: true, strings.Repeat("x", 64<<10): true,
		`a@b`: false, `4111 1111`: true, `4111 1111 1111 1`: false, `the key = \"8f3bKq2LmZx91Rtw5Vy7\"`: false, `\u0041`: false, `a\/b`: false, "\u212aey": false, `about facebook`: false, strings.Repeat("x", 64<<10+1): false,
	} {
		if got := usual.Clean(raw); got != want {
			t.Errorf("%.40q is clean: %t, want %t", raw, got, want)
		}
	}
	for n := range 20 {
		if raw := strings.Repeat("x", n) + `\u0041 ` + strings.Repeat("x", 20-n); usual.Clean(raw) {
			t.Errorf("%s is clean", raw)
		}
	}
	for name, d := range map[string]*detect.Detector{"words": must(detect.Words([]string{"word"})), "regexp": must(detect.Regexp("word")), "anchors": must(detect.SecretsOf(rule(`a"key=[a-z]+`, "")))} {
		if detect.NewMatcher(redacting(0, d).rules, 0).Clean("x") {
			t.Errorf("%s: a text is clean", name)
		}
	}
}
