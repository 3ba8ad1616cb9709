package redact

import "strings"

const (
	// minInName is the shortest known secret that is searched for inside a name, in bytes. Local
	// servers take keys such as "ollama", which are parts of ordinary names.
	minInName = 12
	// maxSearched bounds the searched part of a name, in bytes. No record keeps as much.
	maxSearched = 8 << 10
)

// Own returns a caller's text in the form that its row may keep, and that it may see again: a model's
// name, a request ID, the name of a workstation. The caller's own secret and text in the form of a
// key become [Mark]. The result is not shortened.
func Own(text, secret string) string {
	return cleaned(text, func(searched string) string { return without(searched, []string{secret}) })
}

// Name returns a caller's text in the form that the log may have. Known secrets and text in the form
// of a key become [Mark]; a known secret of less than 12 bytes does so only if it is the whole text.
// The result is not shortened.
func (r *Redactor) Name(text string) string { return cleaned(text, r.withoutKnown) }

func cleaned(text string, withoutSecrets func(string) string) string {
	searched := text[:min(len(text), maxSearched)]
	clean := withoutKeyForms(withoutSecrets(searched))
	switch {
	case clean == searched:
		return text
	case len(searched) < len(text):
		return Mark // a secret may be cut at the end of the searched part
	}
	return clean
}

func (r *Redactor) withoutKnown(text string) string {
	if r == nil {
		return text
	}
	k := r.known.Load()
	if len(text) < minInName {
		if k.short[text] {
			return Mark
		}
		return text
	}
	if r.isKey != nil {
		text = r.withoutKeys(text)
	}
	if k.long != nil {
		text = k.long.Replace(text)
	}
	return text
}

// withoutKeys checks the whole text and its parts: those that may be a key that somebody chose, and
// within these the ones that may be a key of [keys.NewSecret].
func (r *Redactor) withoutKeys(text string) string {
	if r.isKey(text) {
		return Mark
	}
	return r.withoutParts(r.withoutParts(text, endsChosen), endsGenerated)
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

// endsChosen reports whether a key that somebody chose ends before c. Such a key can contain
// everything that an Authorization header carries, but few contain the separators of names and
// sentences.
func endsChosen(c byte) bool {
	return c <= ' ' || c > '~' || strings.IndexByte(`\/,;:=&?|"'()<>[]{}`+"`", c) >= 0
}

// endsGenerated reports whether a key that the gateway made ends before c.
func endsGenerated(c byte) bool { return !base64URL(c) }
