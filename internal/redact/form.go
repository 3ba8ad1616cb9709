package redact

import "strings"

const (
	// minRun is the shortest run of letters and digits that only a key has, and longRun the shortest
	// of letters or of digits alone: names have words and separators between them.
	minRun, longRun = 16, 30
	// maxKeyHead is how far behind its prefix the random part of a key is looked for, in bytes. Some
	// vendors put a few words first ("sk-svcacct-").
	maxKeyHead = 64
	// minMasked is how many asterisks in a row show that a provider masked a key.
	minMasked = 3
)

// keyForms are the prefixes of keys: of this gateway and of vendors. Ordinary names have many of
// them too, so it is what follows that shows a key.
var keyForms = []struct {
	prefix string
	length int  // of what follows, where it is fixed and may have "-" and "_", in bytes
	dotted bool // parts that a dot joins follow
}{
	{prefix: "gh-", length: 43}, // keys.NewSecret
	{prefix: "glpat-", length: 20}, {prefix: "AIza", length: 35},
	{prefix: "eyJ", dotted: true}, // a JSON Web Token
	{prefix: "sk-"}, {prefix: "pk-"}, {prefix: "rk-"}, {prefix: "csk-"}, {prefix: "xai-"}, {prefix: "pplx-"},
	{prefix: "nvapi-"}, {prefix: "gsk_"}, {prefix: "hf_"}, {prefix: "r8_"}, {prefix: "fw_"}, {prefix: "ya29."},
	{prefix: "ghp_"}, {prefix: "gho_"}, {prefix: "ghs_"}, {prefix: "github_pat_"}, {prefix: "AKIA"},
}

// keyFormStarts has the first bytes of keyForms.
var keyFormStarts = func() (starts [256]bool) {
	for _, form := range keyForms {
		starts[form.prefix[0]] = true
	}
	return starts
}()

// withoutKeyForms replaces what has the form of a key by [Mark].
func withoutKeyForms(text string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		if !keyFormStarts[text[i]] {
			continue
		}
		if n := keyLength(text[i:], i > done && alphanumeric(text[i-1])); n > 0 {
			out.WriteString(text[done:i])
			out.WriteString(Mark)
			done = i + n
			i = done - 1
		}
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// keyLength returns the length of the key that text begins with, 0 if it begins with none. Inside a
// word ("high-") only a key of fixed length is one.
func keyLength(text string, inWord bool) int {
	for _, form := range keyForms {
		if !strings.HasPrefix(text, form.prefix) {
			continue
		}
		rest := text[len(form.prefix):]
		fixed := form.length > 0 && fixedLength(rest, form.length)
		random := (fixed || !inWord) && hasRandomRun(rest[:min(len(rest), maxKeyHead)])
		if random || fixed && !inWord {
			return len(form.prefix) + keyEnd(rest, form.dotted)
		}
	}
	return 0
}

// fixedLength reports whether rest begins with so many characters of base64url, letters of both
// cases among them.
func fixedLength(rest string, length int) bool {
	if len(rest) < length {
		return false
	}
	upper, lower := false, false
	for i := range length {
		if !base64URL(rest[i]) {
			return false
		}
		upper = upper || 'A' <= rest[i] && rest[i] <= 'Z'
		lower = lower || 'a' <= rest[i] && rest[i] <= 'z'
	}
	return upper && lower
}

// hasRandomRun reports whether rest, up to where a key would end, has a run that no name has.
func hasRandomRun(rest string) bool {
	letters, digits, masked := 0, 0, 0
	for i := range len(rest) {
		switch c := rest[i]; {
		case c == '*':
			masked++
			letters, digits = 0, 0
		case !base64URL(c):
			return false
		default:
			masked = 0
			switch {
			case !alphanumeric(c):
				letters, digits = 0, 0
			case c <= '9':
				digits++
			default:
				letters++
			}
		}
		run := letters + digits
		if masked >= minMasked || run >= longRun || run >= minRun && letters > 0 && digits > 0 {
			return true
		}
	}
	return false
}

func keyEnd(rest string, dotted bool) int {
	n := 0
	for n < len(rest) && (base64URL(rest[n]) || rest[n] == '*' || dotted && rest[n] == '.' && n+1 < len(rest) && base64URL(rest[n+1])) {
		n++
	}
	return n
}

func base64URL(c byte) bool { return alphanumeric(c) || c == '-' || c == '_' }

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
