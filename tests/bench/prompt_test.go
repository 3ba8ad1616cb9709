//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// decodedPrompt is the text of a prompt of n encoded bytes.
func decodedPrompt(t *testing.T, k promptKind, n int) string {
	t.Helper()
	var text string
	if err := json.Unmarshal([]byte(`"`+string(k.text(n))+`"`), &text); err != nil {
		t.Fatalf("%d bytes of %s: %v", n, k, err)
	}
	return text
}

func TestCodePromptIsLikeThatOfACodingTool(t *testing.T) {
	for _, n := range []int{800, 32 * kib, mib} {
		text := decodedPrompt(t, codePrompt, n)
		lines := strings.Count(text, "\n")
		if each := len(text) / lines; each < 25 || each > 40 {
			t.Errorf("%d bytes have a line end every %d bytes", n, each)
		}
		if !strings.Contains(text, `"`) || !strings.Contains(text, "\t") {
			t.Errorf("%d bytes have no quotes or no tabs", n)
		}
		outside := strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf {
				return -1
			}
			return r
		}, text)
		if got := utf8.RuneCountInString(outside); got < n/kib || got > 2*n/kib+1 {
			t.Errorf("%d bytes have %d characters outside ASCII", n, got)
		}
		if n > 2*kib && !strings.ContainsFunc(outside, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%d bytes have no Chinese", n)
		}
	}
}

func TestPromptIsCutBetweenCharacters(t *testing.T) {
	for n := range 3 * kib {
		if text := decodedPrompt(t, codePrompt, n); !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
			t.Fatalf("%d bytes end in half a character: %q", n, text[max(0, len(text)-10):])
		}
	}
}

func TestProsePromptHasNothingToEscape(t *testing.T) {
	if prose := string(prosePrompt.text(4 * kib)); strings.ContainsAny(prose, `\"`) {
		t.Error("plain prose has an escape")
	}
}
