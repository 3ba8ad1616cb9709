package tochat

import "bytes"

// maxTemplate bounds a template in bytes; a usual chunk has 150.
const maxTemplate = 1 << 10

// textTemplate is the last chunk without its text, if it held nothing but a piece of text. Most
// chunks of a stream differ only in this piece. Such a chunk has the same meaning with another
// text, so that it need not be walked.
type textTemplate struct {
	before []byte // up to the quote that begins the text, empty for no template
	after  []byte // from the quote that ends it
}

// learn keeps a chunk whose text, quotes included, is at chunk[start:end].
func (t *textTemplate) learn(chunk []byte, start, end int) {
	if len(chunk)-(end-start) > maxTemplate {
		return
	}
	t.before = append(t.before[:0], chunk[:start+1]...)
	t.after = append(t.after[:0], chunk[end-1:]...)
}

func (t *textTemplate) forget() { t.before = t.before[:0] }

// match returns the text of a chunk that differs from the template only in it, JSON without quotes.
func (t *textTemplate) match(chunk []byte) ([]byte, bool) {
	if len(t.before) == 0 || !bytes.HasPrefix(chunk, t.before) {
		return nil, false
	}
	rest := chunk[len(t.before):]
	if len(rest) <= len(t.after) || !bytes.HasSuffix(rest, t.after) {
		return nil, false
	}
	text := rest[:len(rest)-len(t.after)]
	return text, isOneString(text)
}

// isOneString reports whether text, between two quotes in valid JSON of which the first opens a
// string, is that string: no quote in it ends the string earlier. Nor can the string continue after
// it, because the quotes there already pair off.
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
