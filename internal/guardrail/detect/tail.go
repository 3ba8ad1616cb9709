package detect

import "unicode/utf8"

// maxTail is how many bytes are kept of a text that another may continue.
const maxTail = 512

// usualTail is the first size of a tail, in bytes.
const usualTail = 256

// Tail is the end of a text that another may continue. See [Matcher.Follow].
type Tail struct{ text []byte }

// Add adds the next piece of the text.
func (t *Tail) Add(piece string) {
	if len(piece) > maxTail {
		t.text, piece = t.text[:0], piece[len(piece)-maxTail:]
	}
	if len(t.text)+len(piece) > 2*maxTail {
		t.text = t.text[:copy(t.text, t.text[len(t.text)-min(len(t.text), maxTail):])]
	}
	if t.text == nil {
		t.text = make([]byte, 0, max(usualTail, len(piece)))
	}
	t.text = append(t.text, piece...)
}

// String returns the last 512 bytes of the text, or all of a shorter one, from the first whole
// character on.
func (t *Tail) String() string {
	text := t.text[max(0, len(t.text)-maxTail):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return string(text)
}
