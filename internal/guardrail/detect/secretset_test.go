package detect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// rule returns a rule set of one rule.
func rule(regex, more string) string {
	return fmt.Sprintf("[[rules]]\nid = \"r\"\nregex = '''%s'''\n%s\n", regex, more)
}

func TestAllowlistsLookAtTheMatchOrTheSecret(t *testing.T) {
	const list = "[[rules.allowlists]]\n"
	for _, test := range []struct {
		name, more string
		texts      []string
	}{
		{"none", "", []string{"see key=⟦abcdef⟧"}},
		{"the match", list + `regexTarget = "match"` + "\nregexes = ['''^my\\.key=''']", []string{"my.key=abcdef", "my key=⟦abcdef⟧", "my~key=⟦abcdef⟧"}},
		{"the secret", list + "regexes = ['''^abc''']", []string{"key=abcdef", "key=⟦defabc⟧"}},
		{"the secret, by name", list + `regexTarget = "secret"` + "\nregexes = ['''key=''']", []string{"key=⟦abcdef⟧"}},
		{"one of two", list + "regexes = ['''^x''', '''^abc''']", []string{"key=abcdef", "key=⟦defabc⟧"}},
		{"the line", list + `regexTarget = "line"` + "\nregexes = ['''key''']", []string{"key=⟦abcdef⟧"}},
		{"also a file", list + `condition = "AND"` + "\nregexes = ['''abc''']", []string{"key=⟦abcdef⟧"}},
		{"a word in the secret", list + `stopwords = ["cde", "bcd", "key"]`, []string{"key=aBCdef", "key=⟦adcbef⟧", "key=xbcdex"}},
		{"a suffix of a word", list + `stopwords = ["abcx", "bcd"]`, []string{"key=xabcdx", "key=⟦abcefg⟧"}},
		{"true, false, null", list + "regexes = ['''(?i)^true|false|null$''']", []string{"key=⟦afalse⟧"}},
		{"of all rules", "[allowlist]\nregexes = ['''^abc''']", []string{"key=abcdef", "key=⟦defabc⟧"}},
	} {
		finds(t, must(detect.SecretsOf(rule("key=([a-zA-Z]{6})", test.more))), test.texts...)
	}
}

func TestAllowlistsSeeFiftyCharactersBeforeAMatch(t *testing.T) {
	set := must(detect.SecretsOf(rule("key=([a-z]{6})", "[[rules.allowlists]]\nregexTarget = \"match\"\nregexes = ['''^safe''']")))
	finds(t, set,
		"safe"+strings.Repeat("-", 46)+"key=abcdef",
		"safe"+strings.Repeat("-", 47)+"key=⟦abcdef⟧",
		"safe "+"key=⟦abcdef⟧",
	)
}

func TestARuleReportsItsGroup(t *testing.T) {
	for regex, text := range map[string]string{
		`key=[a-z]{3}`:                "⟦key=abc⟧ x",
		`key=([a-z]{3})`:              "key=⟦abc⟧ x",
		`key=(?:([A-Z]{3})|([a-z]+))`: "key=⟦abc⟧ x",
		`key=([a-z])([a-z])[a-z]`:     "key=⟦a⟧bc x",
		`key=([a-z]){3}`:              "⟦key=abc⟧ x",
		`key=([a-z]*)[0-9]`:           "⟦key=1⟧ x",
	} {
		finds(t, must(detect.SecretsOf(rule(regex, ""))), text)
	}
	finds(t, must(detect.SecretsOf(rule(`key=([a-z])([a-z])[a-z]`, "secretGroup = 2"))), "key=a⟦b⟧c x")
}

// Two matches of a rule may begin at one character and have different secrets. Each is judged.
func TestEachSecretOfAMatchIsJudged(t *testing.T) {
	finds(t, must(detect.SecretsOf(rule(`key(?:=ab(c+z)|=(abc))`, "entropy = 1"))), "key=⟦abc⟧cz")
}

func TestEntropyIsMoreThanThatOfTheRule(t *testing.T) {
	set := must(detect.SecretsOf(rule("key=([a-z]{4})", "entropy = 1.5")))
	finds(t, set, "key=aabb", "key=aabc", "key=⟦abcd⟧") // 1, 1.5 and 2 bits
}

func TestAKeywordComesBeforeASecret(t *testing.T) {
	set := must(detect.SecretsOf(rule("key=([a-z]{3})", `keywords = ["Acme", "corp"]`)))
	finds(t, set, "key=abc", "key=abc acme", "acme key=⟦abc⟧", "ACME key=⟦abc⟧", "key=abc corp key=⟦abc⟧")
}

// A rule whose matches have no fixed string runs after a keyword, and shortly before it.
func TestARuleWithoutAFixedStringNeedsAKeyword(t *testing.T) {
	set := must(detect.SecretsOf(rule("[0-9]{3}-([a-z]{3})", `keywords = ["acme"]`)))
	finds(t, set, "123-abc", "acme 123-⟦abc⟧ 456-⟦def⟧")
}

func TestRulesAboutFilesAreLeftOut(t *testing.T) {
	set := must(detect.SecretsOf(rule("key=[a-z]+", "path = '''x'''") + rule("code=[a-z]+", "") + "[[rules]]\nid = \"file\"\npath = '''x'''\n"))
	finds(t, set, "key=abc", "⟦code=abc⟧")
}

func TestARuleSetThatCannotBeUsedIsRefused(t *testing.T) {
	const list = "[[rules.allowlists]]\nregexes = ['''(''']"
	for text, want := range map[string]string{
		"[[rules]":                              "reading the rule set",
		rule("(", ""):                           "rule r: error parsing",
		rule(strings.Repeat("a{1000}", 11), ""): "rule r: the pattern is too large",
		rule("key=[a-z]", list):                 "rule r: error parsing",
		"[allowlist]\nregexes = ['''(''']":      "error parsing",
		rule("[a-z]{3}", ""):                    "rule r has neither a literal nor a keyword",
	} {
		if _, err := detect.SecretsOf(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// What may be the name before the keyword at the end of a secret is held back, as long as the name
// may be. Nothing is held after another character.
func TestOnlyNamesAreHeldBeforeAKeyword(t *testing.T) {
	set := redacting(usualWindow, must(detect.SecretsOf(rule(`[\w.~-]{8}~~key`, `keywords = ["~~key"]`))))
	const back = 40
	for _, c := range "azAZ09_.~-" {
		name := strings.Repeat(string(c), 8)
		if sent, _ := set.pieces(strings.Split("= "+name+"~~key ok", "")); sent != "= [REDACTED] ok" {
			t.Errorf("%q: sent %q", name, sent)
		}
		for n, want := range map[int]int{1: 1, back - 1: back - 1, back: back, back + 1: back, 500: back, 2000: back} {
			if got := set.held("= " + strings.Repeat(string(c), n)); got != want {
				t.Errorf("%d of %c are held after %d, want %d", got, c, n, want)
			}
		}
	}
	for _, c := range " =/:;@[`{,\u00e9\u4e00" {
		if got := set.held("name" + string(c)); got != 0 {
			t.Errorf("%d bytes are held after %q", got, c)
		}
	}
}

// A key may have 8,192 characters. Text is kept that long while it may still end.
func TestLongSecretsAreFoundWhole(t *testing.T) {
	detector := must(detect.SecretsOf(rule(`(?s)BEGIN(.*?)END`, "")))
	for _, n := range []int{10, 511, 512, 1023, 1024, 8000, 8100} {
		finds(t, detector, strings.Repeat("text ", 100)+"BEGIN⟦"+strings.Repeat("k", n)+"⟧END "+strings.Repeat("text ", 2000)+"BEGIN⟦abc⟧END")
	}
	if text := "BEGIN" + strings.Repeat("k", 20_000) + "END"; redacting(0, detector).whole(text) != text {
		t.Error("a secret without a bound is kept")
	}
}

// A match that never ends keeps what two of the longest secrets have, and the name before.
func TestTheTextThatIsKeptIsBounded(t *testing.T) {
	m := detect.NewMatcher(redacting(usualWindow, must(detect.SecretsOf(rule(`(?s)BEGIN(.*?)END`, `keywords = ["word"]`)))).rules, usualWindow)
	for _, piece := range []string{"a text without it, and more; ", "BEGIN é", "é and so on, ééé"} {
		for range 10_000 {
			m.Scan(piece)
			if got := detect.Kept(m); got > 4*(2*8192+50) {
				t.Fatalf("%d bytes are kept", got)
			}
		}
	}
}

// What was a secret stays one when its match grows, although a list allows the longer one.
func TestASecretThatGrowsStaysOne(t *testing.T) {
	finds(t, must(detect.SecretsOf(rule("key=([a-z]{3,})", "[[rules.allowlists]]\nstopwords = [\"cdx\"]"))), "key=⟦abcdxyz⟧ y", "key=⟦abcx⟧")
}
