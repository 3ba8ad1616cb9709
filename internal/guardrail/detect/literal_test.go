package detect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

func TestMatchesBeginWithLiterals(t *testing.T) {
	for pattern, want := range map[string]string{
		`abc`: "abc", `(?i)ABC`: "abc", `ab|cd`: "ab cd", `[ab]cd`: "acd bcd", `[a-h]x`: "ax bx cx dx ex fx gx hx", `[a-i]x`: "", `[a-cf-i]x`: "ax bx cx fx gx hx ix", `[a-df-i]x`: "ax bx cx dx fx gx hx ix",
		`[a-df-j]x`: "", `[aé]x`: "", `a?bc`: "abc bc", `a?b`: "", `(ab)+c`: "ab", `(ab){2}c`: "ab", `(ab){0,2}cd`: "", `(?:ab)?cd`: "abcd cd", `ab*`: "", `abc*`: "ab",
		`\babc`: "abc", `\Babc`: "abc", `^abc`: "abc", `(?m)^abc`: "abc", `abc$`: "abc", `abc.`: "abc", `.abc`: "", `abécd`: "ab", `aébc`: "", `éab`: "", `(a)(b)c`: "abc", `(?:ab|cd.)ef`: "ab cd", `(?:ab|cd)ef`: "abef cdef",
		`(?:aa|bb)(?:cc|dd)`: "aacc aadd bbcc bbdd", `(?:ab|c)`: "", `a{2}`: "", `[ab]+c`: "",
		strings.Repeat("a", 24): strings.Repeat("a", 24), strings.Repeat("a", 25): strings.Repeat("a", 24),
		`(?:ab|cd)` + strings.Repeat("e", 22): "ab" + strings.Repeat("e", 22) + " cd" + strings.Repeat("e", 22), `(?:ab|cd)` + strings.Repeat("e", 23): "ab cd",
	} {
		if got := strings.ToLower(strings.Join(detect.Literals(pattern), " ")); got != want {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
	for pattern, want := range map[string]int{`[a-h][a-h]x`: 64, `[a-h][a-h][ab]`: 64, `(?:[a-h][a-h])|[i-p][i-p]`: 0, `[a-h][a-h]|zz`: 0, `[a-h][a-g]|zz`: 57} {
		if got := len(detect.Literals(pattern)); got != want {
			t.Errorf("%s: %d literals, want %d", pattern, got, want)
		}
	}
}

// A rule that has no literal runs at every character once its keyword has come, which costs time.
func TestFewRulesRunEverywhere(t *testing.T) {
	want := []string{"azure-ad-client-secret", "facebook-access-token", "hashicorp-tf-api-token", "maxmind-license-key", "sourcegraph-access-token"}
	if ids := detect.Floating(); !slices.Equal(ids, want) {
		t.Errorf("%v run everywhere, want %v", ids, want)
	}
}
