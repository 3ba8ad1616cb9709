package redact

import "strings"

const (
	// minInName is the shortest known secret that is looked for inside a name, in bytes. Servers at
	// home take keys such as "ollama", which are parts of ordinary names.
	minInName = 12
	// maxSearched bounds what is searched of a name, in bytes. No record keeps as much.
	maxSearched = 8 << 10
)

// Name returns a caller's text as a record may keep it: a model's name, a request id, the name of a
// workstation. Known secrets and what has the form of a key become [Mark]; a known secret of less
// than 12 bytes does only where it is the whole text. The text is not bounded.
func (r *Redactor) Name(text string) string {
	searched := text[:min(len(text), maxSearched)]
	clean := withoutKeyForms(r.withoutKnown(searched))
	switch {
	case clean == searched:
		return text
	case len(searched) < len(text):
		return Mark // a secret may be cut at the end of what was searched
	}
	return clean
}

func (r *Redactor) withoutKnown(text string) string {
	switch {
	case r == nil:
		return text
	case len(text) < minInName:
		if r.short[text] {
			return Mark
		}
		return text
	case r.isKey != nil:
		text = r.withoutKeys(text)
	}
	if r.long != nil {
		text = r.long.Replace(text)
	}
	return text
}

// withoutKeys asks for the whole text and for its parts: those that may be a key that somebody chose,
// and within these the ones that may be a key of [keys.NewSecret].
func (r *Redactor) withoutKeys(text string) string {
	if r.isKey(text) {
		return Mark
	}
	return r.withoutParts(r.withoutParts(text, endsChosen), endsOwn)
}

func (r *Redactor) withoutParts(whole string, ends func(byte) bool) string {
	text, start := whole, 0
	for i := 0; i <= len(whole); i++ {
		if i < len(whole) && !ends(whole[i]) {
			continue
		}
		if part := whole[start:i]; len(part) >= minInName && len(part) < len(whole) && r.isKey(part) {
			text = strings.ReplaceAll(text, part, Mark)
		}
		start = i + 1
	}
	return text
}

// endsChosen reports whether a key that somebody chose ends before c: one can hold all that an
// Authorization header carries, but few hold what names and sentences are divided by.
func endsChosen(c byte) bool {
	return c <= ' ' || c > '~' || strings.IndexByte(`\/,;:=&?|"'()<>[]{}`+"`", c) >= 0
}

// endsOwn reports whether a key that the gateway made ends before c.
func endsOwn(c byte) bool { return !base64URL(c) }
