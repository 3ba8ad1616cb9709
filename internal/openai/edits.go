package openai

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// An answer is repaired by its bytes: nothing is decoded and written again.
//
//	{"id":"a","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}],"error":null}
//	|                    |                  |                    ╰──╯ text of the delta
//	|                    |                  ╰── AtMessage ─────────╯
//	|                    ╰── AtChoice ───────────────────────────────╯
//	╰── AtTop ───────────────────────────────────────────────────────────────────────╯
//
//   - A span is where a value stands in the data. Members and elements are spans in their own
//     object, whose start is added: event[start+m.ValueStart].
//   - A patch ([jsonscan.Patch]) gathers the changes of one object while its members are read, by the
//     tables in members.go. There is one a [Level]. An object's values are edited before its patch is
//     taken.
//   - An edit replaces a span of the event: (from, to, new). Here `"error":null` becomes nothing. What
//     is new lives in work.small, or in the patch's text.
//   - An event repeats the one before if it differs only in its variables: the text, a number, the
//     padding. What was sent then is a template, with holes where the variables stand. A text that
//     an edit wrote once more, as `reasoning`, has a second hole (textSpan.twice).

// edits are the changes of an event or a whole answer, in the order of its data. They do not
// overlap, but for changes in a value that is dropped.
type edits struct {
	list []jsonscan.Edit
	text []byte // of members that they add
}

func (e *edits) reset() {
	clear(e.list)
	e.list, e.text = emptied(e.list, maxKept), emptied(e.text, maxScratch)
}

// add takes the changes of an object that begins at base.
func (e *edits) add(p *jsonscan.Patch, base int) {
	if p.Changed() {
		n := len(e.list)
		e.list, e.text = p.Edits(e.list, e.text, base)
		e.sort(n)
	}
}

// put replaces data[from:to].
func (e *edits) put(from, to int, value []byte) {
	e.list = append(e.list, jsonscan.Edit{From: from, To: to, New: value})
	e.sort(len(e.list) - 1)
}

// sort puts the edits from n on, which are in order, where they belong. Objects are edited in their
// order, those inside others first, so only the edits inside an object can be behind its own.
func (e *edits) sort(n int) {
	if n == 0 || e.list[n-1].From <= e.list[n].From {
		return
	}
	byPlace := func(a, b jsonscan.Edit) int { return cmp.Compare(a.From, b.From) }
	at, _ := slices.BinarySearchFunc(e.list[:n], e.list[n], byPlace)
	slices.SortStableFunc(e.list[at:], byPlace)
}

// append appends the edited data to dst.
func (e *edits) append(dst, data []byte) []byte {
	at := 0
	for i := range e.list {
		edit := &e.list[i]
		if edit.From < at {
			continue // in a value that was dropped
		}
		dst = append(dst, data[at:edit.From]...)
		dst = append(dst, edit.New...)
		at = edit.To
	}
	return append(dst, data[at:]...)
}

// moved returns where a value of the data begins in the edited data.
func (e *edits) moved(start int) int {
	at := start
	for i := range e.list {
		if edit := &e.list[i]; edit.To <= start && edit.From < start {
			at += len(edit.New) - (edit.To - edit.From)
		}
	}
	return at
}

// appendEventHead begins an SSE event, whose name may be empty. Its data may have no line ends.
func appendEventHead(dst, name []byte) []byte {
	if len(name) > 0 {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	return append(dst, dataField...)
}

// appendEvent appends an SSE event with JSON as its data.
func appendEvent(dst, name, json []byte) []byte {
	dst = appendEventHead(dst, name)
	at := len(dst)
	dst = append(dst, json...)
	return append(unwrap(dst, at), eventEnd...)
}

const (
	dataField = "data: "
	eventEnd  = "\n\n"
)

// unwrap replaces the line ends in dst[at:], which is valid JSON: there they can only stand between
// tokens. A line of an event must not break.
func unwrap(dst []byte, at int) []byte {
	text := dst[at:]
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') < 0 {
		return dst
	}
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
	return dst
}
