package tochat

import "bytes"

// maxShortcut bounds what is remembered of a chunk; a usual one has 150 bytes.
const maxShortcut = 1 << 10

// shortcut remembers the last chunk, if it held nothing but a piece of text.
// Most chunks of a stream differ in that piece alone, and such a one need not
// be walked: with the same bytes around it, it says the same.
type shortcut struct {
	before []byte // up to the quote that begins the text, empty for no shortcut
	after  []byte // from the quote that ends it
}

// learn remembers a chunk whose text, quotes included, is at chunk[start:end].
func (s *shortcut) learn(chunk []byte, start, end int) {
	if len(chunk)-(end-start) > maxShortcut {
		return
	}
	s.before = append(s.before[:0], chunk[:start+1]...)
	s.after = append(s.after[:0], chunk[end-1:]...)
}

func (s *shortcut) forget() { s.before = s.before[:0] }

// piece returns the text of a chunk that is like the one remembered, JSON
// without quotes.
func (s *shortcut) piece(chunk []byte) ([]byte, bool) {
	if len(s.before) == 0 || !bytes.HasPrefix(chunk, s.before) {
		return nil, false
	}
	rest := chunk[len(s.before):]
	if len(rest) <= len(s.after) || !bytes.HasSuffix(rest, s.after) {
		return nil, false
	}
	text := rest[:len(rest)-len(s.after)]
	return text, isOneString(text)
}

// isOneString tells whether text, between two quotes in valid JSON of which the
// first opens a string, is that string: no quote in it ends it before. Nor can
// the string go on behind it, because the quotes after it pair off already.
func isOneString(text []byte) bool {
	for i := 0; i < len(text); {
		switch n := bytes.IndexAny(text[i:], `"\`); {
		case n < 0:
			return true
		case text[i+n] == '"':
			return false
		default:
			i += n + len(`\"`)
		}
	}
	return true
}
