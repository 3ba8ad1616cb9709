package detect_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// A matcher reads the texts of a body one after another.
func TestNothingOfATextIsLeftForTheNext(t *testing.T) {
	var rules []detect.Rule
	for _, d := range append([]*detect.Detector{must(detect.SecretsOf(rule("key=([a-z]{3})", `keywords = ["acme"]`)))}, detectors...) {
		rules = append(rules, detect.Rule{Detector: d, Mark: mark})
	}
	list := append(texts, "acme key=abc", "key=abc", "41", "11 1111 1111 1111", "ke", "y=abc", "b", "\u0301")
	m := detect.NewMatcher(rules, 0)
	for _, first := range list {
		for _, second := range list {
			_, _ = m.Whole(first, "", nil)
			edits, err := m.Whole(second, "", nil)
			want, _ := detect.NewMatcher(rules, 0).Whole(second, "", nil)
			if err != nil || !slices.Equal(edits, want) {
				t.Errorf("%q after %q: %v, want %v, %v", second, first, edits, want, err)
			}
		}
	}
}

// A matcher that reads in pieces may read another text, wherever it left off in the first.
func TestNothingOfAPieceIsLeftForTheNextText(t *testing.T) {
	const window = 100
	rules := redacting(window, detectors...).rules
	for i := range rules {
		rules[i].Deny = i%2 == 0
	}
	type state struct {
		ok    bool
		n     int
		edits []detect.Edit
		last  bool
	}
	read := func(m *detect.Matcher, text string) (s state) {
		s.ok = m.Scan(text)
		n, edits := m.Settle(text, false)
		s.n, s.edits, s.last = n, slices.Clone(edits), m.End()
		return s
	}
	m := detect.NewMatcher(rules, window)
	for _, first := range texts {
		for _, second := range texts {
			m.Scan(first)
			m.Settle(first, false)
			m.Reset(window)
			got, want := read(m, second), read(detect.NewMatcher(rules, window), second)
			if got.ok != want.ok || got.n != want.n || got.last != want.last || !slices.Equal(got.edits, want.edits) {
				t.Errorf("%q after %q: %+v, want %+v", second, first, got, want)
			}
			m.Reset(window)
		}
	}
}

func TestATextHasAtMostSoManyHits(t *testing.T) {
	m := detect.NewMatcher(redacting(0, must(detect.Words([]string{"x"}))).rules, 0)
	if edits, err := m.Whole(strings.Repeat("x ", detect.MaxHits), "", nil); err != nil || len(edits) != 1<<17 {
		t.Errorf("%d hits, %v", len(edits), err)
	}
	if _, err := m.Whole(strings.Repeat("x ", detect.MaxHits+1), "", nil); !errors.Is(err, detect.ErrTooManyHits) {
		t.Errorf("one more: %v", err)
	}
}

// A character is held back until window more were read, even if a match may still come.
func TestNoTextIsHeldBackBeyondTheWindow(t *testing.T) {
	const window = 20
	m := detect.NewMatcher(redacting(window, must(detect.Regexp(`<[^>]*>`))).rules, window)
	held := ""
	for i, c := range []rune("abc<" + strings.Repeat("é", 50)) {
		m.Scan(string(c))
		held += string(c)
		n, _ := m.Settle(held, false)
		held = held[n:]
		if got := len([]rune(held)); got != min(max(0, i-2), window) {
			t.Fatalf("after %d characters %q is held back", i+1, held)
		}
	}
}

func TestRulesRunOnlyWhereTheyMayMatch(t *testing.T) {
	m := detect.NewMatcher(redacting(usualWindow, must(detect.SecretsOf(rule("key=([a-z]{3})", "")))).rules, usualWindow)
	for _, step := range []struct {
		piece   string
		running int
	}{{"some text, ke", 0}, {"y=", 1}, {"ab", 1}, {"- and", 0}, {" key=abc", 1}, {" more", 0}, {" key=1", 0}} {
		m.Scan(step.piece)
		if got := detect.Running(m); got != step.running {
			t.Errorf("%d rules run after %q, want %d", got, step.piece, step.running)
		}
	}
}

// The rule that denies is the one known first.
func TestTheRuleThatFindsFirstDenies(t *testing.T) {
	rules := []detect.Rule{{Detector: must(detect.Regexp("abc+d")), Deny: true}, {Detector: must(detect.Regexp("bc")), Deny: true}, {Detector: must(detect.Regexp("b")), Mark: mark}, {Detector: must(detect.Regexp("c")), Deny: true}}
	for text, want := range map[string]int{"abcd": 1, "ab": -1, "xc": 3, "bcabcd": 1} {
		m := detect.NewMatcher(rules, usualWindow)
		if ok := m.Scan(text) && m.End(); ok != (want < 0) || m.DeniedBy() != want {
			t.Errorf("%s: denied %t by rule %d, want %d", text, !ok, m.DeniedBy(), want)
		}
	}
}

// A match that grows is one hit, however long it gets.
func TestAMatchThatGrowsIsOneHit(t *testing.T) {
	m, text := detect.NewMatcher(redacting(0, must(detect.Regexp("a+"))).rules, 0), strings.Repeat("a", 4*detect.MaxHits)
	edits, err := m.Whole(text, "", nil)
	if got := string(detect.Apply(nil, text, edits)); err != nil || got != mark {
		t.Errorf("%.40s, %v", got, err)
	}
}

// A text that is denied may end within a possible secret.
func TestNothingOfADeniedTextIsLeftForTheNext(t *testing.T) {
	rules := append(redacting(0, must(detect.SecretsOf(rule("key=([a-z]{3,})", "")))).rules,
		detect.Rule{Detector: must(detect.Words([]string{"forbidden"})), Deny: true})
	m := detect.NewMatcher(rules, 0)
	for range 2 {
		if _, err := m.Whole("forbidden, key=abcde", "", nil); !errors.Is(err, detect.ErrDenied) {
			t.Error(err)
		}
		for text, want := range map[string][]detect.Edit{"x": nil, "key=ab": nil, "abcdef": nil, "is key=abc": {{From: 7, To: 10, Mark: mark}}} {
			if edits, err := m.Whole(text, "", nil); err != nil || !slices.Equal(edits, want) {
				t.Errorf("%s: %v, %v", text, edits, err)
			}
		}
	}
}

func TestHitsOfAnotherAreTakenOutUpToTheLastCharacter(t *testing.T) {
	rules := []detect.Rule{{Mark: "[a]"}, {Mark: "[b]"}}
	for _, test := range []struct {
		hits []detect.Hit
		want string
	}{
		{[]detect.Hit{{Start: 0, End: 1}}, "[a]éc"}, {[]detect.Hit{{Start: 2, End: 3}}, "aé[a]"}, {[]detect.Hit{{Start: 1, End: 2, Rule: 1}}, "a[b]c"}, {[]detect.Hit{{Start: 0, End: 3}}, "[a]"},
		{[]detect.Hit{{Start: 1, End: 3, Rule: 1}, {Start: 0, End: 2}}, "[a]"}, {[]detect.Hit{{Start: 2, End: 3, Rule: 1}, {Start: 0, End: 1}}, "[a]é[b]"}, {nil, "aéc"},
	} {
		if got := string(detect.Apply(nil, "aéc", detect.Edits("aéc", test.hits, rules))); got != test.want {
			t.Errorf("%v: %s, want %s", test.hits, got, test.want)
		}
	}
}
