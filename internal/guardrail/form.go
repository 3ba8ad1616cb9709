package guardrail

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// form says how a string of a body is read.
type form struct {
	unread    bool   // not at all
	arguments bool   // as JSON
	part      part   // as going on from the part before it, the zero part for none
	before    string // as going on from this
}

// part says which texts are the parts of one message of an answer, which a
// client joins: those of one key in one array of content.
type part struct {
	array int // where it begins
	key   string
}

// form is that of the string value the finder is at.
func (f *finder) form() (how form) {
	n := len(f.frames)
	if n == 0 || !f.frames[n-1].object {
		return how
	}
	top := &f.frames[n-1]
	how.arguments = top.key == "arguments"
	if f.answer && n > 1 && top.name == "content" && !f.frames[n-2].object && (top.key == "text" || top.key == "refusal") {
		how.part = part{f.frames[n-2].start, top.key}
	}
	return how
}

// isJSON tells whether a whole text is an object or array of JSON, as structured
// outputs and the results of tools are.
func isJSON(text string) bool {
	text = strings.Trim(text, " \t\r\n")
	if len(text) < len("{}") || text[0] != '{' && text[0] != '[' || text[len(text)-1] != text[0]+2 {
		return false // '[' and ']', '{' and '}' are two apart
	}
	return json.Valid([]byte(text))
}

// begin makes the reader ready for a text and returns what the rules read of it.
func (b *bodyReader) begin(text string, how form, args *arguments) (plain string) {
	if plain = text; how.arguments {
		plain = args.whole(text)
	}
	b.reader.before = how.before
	if how.part != (part{}) {
		if how.part != b.part {
			b.part, b.before = how.part, tail{}
		}
		if b.reader.before == "" {
			b.reader.before = b.before.String()
		}
		b.before.add(plain)
	}
	return plain
}

// maxTail is how much is kept of a text that may go on as another, in bytes.
const maxTail = 512

// tail is the end of what was read of a text.
type tail struct{ text []byte }

func (t *tail) add(piece string) {
	if len(piece) > maxTail {
		t.text, piece = t.text[:0], piece[len(piece)-maxTail:]
	}
	if len(t.text)+len(piece) > 2*maxTail {
		t.text = t.text[:copy(t.text, t.text[len(t.text)-min(len(t.text), maxTail):])]
	}
	t.text = append(t.text, piece...)
}

func (t *tail) String() string {
	text := t.text[max(0, len(t.text)-maxTail):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return string(text)
}

// follow makes the reader ready for a text that goes on from r.before, which
// was judged. Of what is found from now on, only what reaches into the new text
// is taken out.
func (r *reader) follow() {
	if r.before == "" {
		return
	}
	r.scan(r.before)
	r.found.reset(r.found.window)
	r.cover.char, r.before = r.pos, ""
}
