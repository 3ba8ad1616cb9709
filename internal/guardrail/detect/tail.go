package detect

import "unicode/utf8"

// maxTail is how much is kept of a text that may go on as another, in bytes.
const maxTail = 512

// Tail is the end of what was read of a text, for one that goes on from it.
type Tail struct{ text []byte }

// Add takes the next piece of the text.
func (t *Tail) Add(piece string) {
	if len(piece) > maxTail {
		t.text, piece = t.text[:0], piece[len(piece)-maxTail:]
	}
	if len(t.text)+len(piece) > 2*maxTail {
		t.text = t.text[:copy(t.text, t.text[len(t.text)-min(len(t.text), maxTail):])]
	}
	t.text = append(t.text, piece...)
}

// String returns the last characters, at most 512 bytes of them.
func (t *Tail) String() string {
	text := t.text[max(0, len(t.text)-maxTail):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return string(text)
}
