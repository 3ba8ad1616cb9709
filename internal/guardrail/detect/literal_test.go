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

func TestMatchesContainALiteral(t *testing.T) {
	const first, whole = -1, 0
	for _, test := range []struct {
		pattern string
		group   int
		literal string
		back    int
	}{
		{`[0-9]{2}-abc([a-z]+)`, first, "-abc", 2}, {`.abc`, first, "abc", 1}, {`(?s).abc`, first, "abc", 1}, {`.{64}abc`, first, "abc", 64}, {`.{65}abc`, first, "", 0}, {`.{2,64}abc`, first, "abc", 64}, {`.{2,}abc`, first, "", 0},
		{`.*abc`, first, "", 0}, {`.+abc`, first, "", 0}, {`[0-9]?abc`, first, "abc", 1}, {`(?:1|[2-4]x|56)abc`, first, "abc", 2}, {`(?:1|[2-4]x[56])abc`, first, "abc", 3}, {`[12]\babc`, first, "abc", 1}, {`[12]x[34]abc`, first, "abc", 3}, {`[12]([34])abc`, first, "abc", 2},
		{`[12]a`, first, "", 0}, {`[12]ab`, first, "ab", 1}, {`[12]éab`, first, "", 0}, {`(?:[12]{3}){2}ab`, first, "ab", 6}, {`(?:.{40}){2}ab`, first, "", 0},
		// What is reported has only characters of names before the literal.
		{`[ =]ab`, first, "ab", 1}, {`[ =]ab`, whole, "", 0}, {`[a-z]ab`, whole, "ab", 1}, {`[ =](ab)`, first, "ab", 1}, {`([ =]ab)`, first, "", 0}, {`([0-9_.~-]ab)`, first, "ab", 1}, {`(=[0-9])ab`, first, "", 0}, {`(z[0-9])ab`, first, "ab", 2},
		{`(.ab)`, first, "", 0}, {`((?s).ab)`, first, "", 0}, {`([é]ab)`, first, "", 0}, {`([a\x80]ab)`, first, "", 0}, {`([a-z]{2}[ =]ab)`, first, "", 0}, {`((?:x|=)ab)`, first, "", 0}, {`((?:x|yz)[1-3]ab)`, first, "ab", 3},
	} {
		literal, back, ok := detect.InnerLiteral(test.pattern, test.group)
		if ok != (test.literal != "") || ok && (strings.ToLower(literal) != test.literal || back != test.back) {
			t.Errorf("%s: %q after %d, %t, want %q after %d", test.pattern, literal, back, ok, test.literal, test.back)
		}
	}
}

func TestOptionalPrefixesAreLeftOut(t *testing.T) {
	for pattern, want := range map[string]string{
		`[\w.-]{0,50}?abc`: `abc`, `[0-9]*abc`: `abc`, `[0-9]?abc`: `abc`, `[0-9]{1,2}abc`: `[0-9]{1,2}abc`, `x{0,2}abc`: `x{0,2}abc`, `[0-9]*[a-z]?abc`: `abc`, `[0-9]*`: `[0-9]*`, `[0-9]*[a-z]*`: `[a-z]*`,
		`[0-9]*1x|[0-9]?2y`: `1x|2y`, `(?:[0-9]*(?:[a-z]*1x|2y))`: `(?:1x|2y)`, `a[0-9]*`: `a[0-9]*`,
	} {
		if got := detect.WithoutPrefix(pattern); got != want {
			t.Errorf("%s: %s, want %s", pattern, got, want)
		}
	}
}

// A rule that has no literal runs at every character once its keyword has come, which costs time.
func TestFewRulesRunEverywhere(t *testing.T) {
	ids, back := detect.Floating()
	if !slices.Equal(ids, []string{"facebook-access-token", "hashicorp-tf-api-token", "sourcegraph-access-token"}) || back != 40 {
		t.Errorf("%v run everywhere, and %d characters are held for an anchor", ids, back)
	}
}
