package detect_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// whole reads a text by a rule that denies a word.
func whole(text string, done <-chan struct{}) error {
	_, err := detect.NewMatcher([]detect.Rule{{Detector: must(detect.Words([]string{"forbidden"})), Deny: true}}, 0).Whole(text, "", done)
	return err
}

func TestLongTextsWaitForOneAnother(t *testing.T) {
	long := strings.Repeat("a ", 1<<20)
	var free []func()
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		free = append(free, detect.Occupy())
	}
	left, done := make(chan struct{}), make(chan error)
	go func() { done <- whole(long, left) }()
	if err := whole("forbidden", nil); !errors.Is(err, detect.ErrDenied) {
		t.Errorf("a short text waits: %v", err)
	}
	close(left)
	if err := <-done; !errors.Is(err, detect.ErrStopped) {
		t.Errorf("without a free slot: %v", err)
	}
	for _, f := range free {
		f()
	}
	for range len(free) + 1 { // a denial releases the semaphore
		if err := whole("forbidden "+long, nil); !errors.Is(err, detect.ErrDenied) {
			t.Error(err)
		}
	}
	if err := whole(long, nil); err != nil {
		t.Error(err)
	}
}

func TestFindsWaitInTheOrderOfTheText(t *testing.T) {
	set := redacting(0, must(detect.Email()), must(detect.Words([]string{"and"})), must(detect.Regexp(`(?s)BEGIN.*END`)))
	const pairs = 15_000 // several blocks of text
	some := strings.Repeat("a@b.cc and ", pairs)
	gone := strings.Repeat("[REDACTED] [REDACTED] ", pairs)
	for text, want := range map[string]string{
		"BEGIN " + some:                         "BEGIN " + gone,
		some + "BEGIN " + some + "END " + some:  gone + "[REDACTED] " + gone,
		"BEGIN " + some + "END END " + some:     "[REDACTED] " + gone,
		"BEGIN END " + some + "END " + some[:6]: "[REDACTED] [REDACTED]",
	} {
		if got := set.whole(text); got != want {
			t.Errorf("%.40s: %d characters, want %d: %.80s", text, len(got), len(want), got)
		}
	}
}

// A word is known only when the character after it is read, which may be in the next text.
func TestAMatchThatEndsBeforeATextIsNotTakenOutOfIt(t *testing.T) {
	m := detect.NewMatcher(redacting(0, must(detect.Email()), must(detect.Words([]string{"forbidden"}))).rules, 0)
	for _, test := range []struct {
		before, text string
		redacted     []int
	}{
		{"it is forbidden", ".", nil},
		{"", "a@b.de", []int{0}},
		{"it is forbid", "den.", []int{1}},
	} {
		if edits, err := m.Whole(test.text, test.before, nil); err != nil || len(edits) != len(test.redacted) {
			t.Errorf("%q after %q: %v, %v", test.text, test.before, edits, err)
		}
		if got := m.Redacted(); !slices.Equal(got, test.redacted) {
			t.Errorf("%q after %q: rules %v, want %v", test.text, test.before, got, test.redacted)
		}
	}
}
