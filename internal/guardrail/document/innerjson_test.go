package document_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

// decoded returns what rules read of JSON that comes in pieces.
func decoded(pieces []string) string {
	inner, out := new(document.InnerJSON), ""
	for _, p := range pieces {
		out += inner.Decode(p, false)
	}
	return out + inner.Decode("", true)
}

func FuzzArgumentsAreReadAsDecoded(f *testing.F) {
	for _, text := range []string{`"a\n\u00e9\ud834\udd1e\ud834x\ud834\n\udd1e\/"`, `"\\\""`, `"é\b\f"`, "\"\u2028\""} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		var want string
		if len(text) == 0 || text[0] != '"' || json.Unmarshal([]byte(text), &want) != nil || !utf8.ValidString(text) {
			return
		}
		var pieces []string
		for rest := text; rest != ""; {
			n := min(int(size)+1, len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		got := decoded(pieces)
		if got != strings.Replace(text, strings.Trim(text, " \t\r\n"), `"`+want+`"`, 1) {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	})
}
