package redact

import "strings"

const (
	// minRun is the shortest run of letters and digits that only a key has, and longRun the
	// shortest of letters or of digits alone: names have words and separators between them.
	minRun, longRun = 16, 30
	// minRunInWord is enough if the length is also that of a key; few of our keys have a shorter
	// one.
	minRunInWord = 12
	// maxKeyHead is how far after its prefix the random part of a key is looked for, in bytes. Some
	// vendors put words first ("sk-svcacct-").
	maxKeyHead = 64
	// minMasked is how many asterisks in a row mean that a provider masked a key.
	minMasked = 3
)

// keyForm is the form of one vendor's keys.
type keyForm struct {
	prefix string
	length int  // of the rest, in bytes, if it is fixed and may contain "-" and "_"
	dotted bool // parts joined by dots follow
}

// keyForms are the forms of our keys and of vendors' keys, by the first byte of the prefix.
// Ordinary names have such prefixes too, so the text after the prefix decides.
var keyForms = byFirst(
	keyForm{prefix: "gh-", length: 43}, // keys.NewSecret
	keyForm{prefix: "glpat-", length: 20}, keyForm{prefix: "AIza", length: 35},
	keyForm{prefix: "eyJ", dotted: true}, // a JSON Web Token
	keyForm{prefix: "sk-"}, keyForm{prefix: "pk-"}, keyForm{prefix: "rk-"}, keyForm{prefix: "csk-"}, keyForm{prefix: "xai-"}, keyForm{prefix: "pplx-"},
	keyForm{prefix: "nvapi-"}, keyForm{prefix: "gsk_"}, keyForm{prefix: "hf_"}, keyForm{prefix: "r8_"}, keyForm{prefix: "fw_"}, keyForm{prefix: "ya29."},
	keyForm{prefix: "ghp_"}, keyForm{prefix: "gho_"}, keyForm{prefix: "ghs_"}, keyForm{prefix: "github_pat_"}, keyForm{prefix: "AKIA"},
)

func byFirst(all ...keyForm) (forms [256][]keyForm) {
	for _, form := range all {
		forms[form.prefix[0]] = append(forms[form.prefix[0]], form)
	}
	return forms
}

// withoutKeyForms replaces text that has the form of a key with [Mark].
func withoutKeyForms(text string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
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

// keyLength returns the length of the key at the start of text, 0 if there is none. Inside a word
// ("high-") only a key of fixed length counts.
func keyLength(text string, inWord bool) int {
	for _, form := range keyForms[text[0]] {
		if !strings.HasPrefix(text, form.prefix) {
			continue
		}
		rest := text[len(form.prefix):]
		fixed := form.length > 0 && fixedLength(rest, form.length)
		head := rest[:min(len(rest), maxKeyHead)]
		if inWord && fixed && hasRandomRun(head, minRunInWord) || !inWord && (fixed || hasRandomRun(head, minRun)) {
			return len(form.prefix) + keyEnd(rest, form.dotted)
		}
	}
	return 0
}

// fixedLength reports whether rest begins with that many characters of base64url, with letters of
// both cases.
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

// hasRandomRun reports whether rest, up to where a key would end, has a run that names do not have:
// at least that many letters and digits, a very long run of either, or asterisks.
func hasRandomRun(rest string, least int) bool {
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
		if masked >= minMasked || run >= longRun || run >= least && letters > 0 && digits > 0 {
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
