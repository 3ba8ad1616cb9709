package translate

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Writer writes JSON into a buffer, value after value. It sets the commas and closes what is open,
// so that its caller can get neither wrong:
//
//	w.Object()                     {
//	w.TextMember("role", text)     {"role":"user"
//	w.Array("content")             {"role":"user","content":[
//	w.Raw(part)                    {"role":"user","content":[{…}
//	w.End(); w.End()               {"role":"user","content":[{…}]}
//
// It decodes nothing: what a caller has as JSON stays as it was written. The zero value writes into
// a new buffer.
type Writer struct {
	out  []byte
	open []level // what is not closed, the innermost last
}

// level is an object or an array that is open.
type level struct {
	end    byte // its closing bracket
	before int  // the length of the buffer before it, with its key and comma
}

// usualDepth is how many levels are open at once in most requests and answers.
const usualDepth = 8

// WriteTo returns a writer that appends to a buffer, in which nothing is open.
func WriteTo(buf []byte) Writer { return Writer{out: buf} }

// Bytes returns the buffer. Nothing may be open any more.
func (w *Writer) Bytes() []byte {
	if n := len(w.open); n > 0 {
		panic("translate: " + string(w.open[n-1].end) + " is missing")
	}
	return w.out
}

// Object begins an object: as the member of this name, or as an element.
func (w *Writer) Object(member ...string) { w.begin('{', '}', member) }

// Array begins an array: as the member of this name, or as an element.
func (w *Writer) Array(member ...string) { w.begin('[', ']', member) }

// End ends the object or array that began last.
func (w *Writer) End() {
	last := len(w.open) - 1
	w.out, w.open = append(w.out, w.open[last].end), w.open[:last]
}

// EndOptional is End, and takes the object or array back if nothing is in it.
func (w *Writer) EndOptional() {
	last := w.open[len(w.open)-1]
	w.End()
	if n := len(w.out); w.out[n-2] == last.end-2 { // the brackets of ASCII are two apart
		w.out = w.out[:last.before]
	}
}

// Raw writes values that are JSON, with commas between them. An empty one writes nothing.
func (w *Writer) Raw(values []byte) {
	if len(values) > 0 {
		w.next()
		w.out = append(w.out, values...)
	}
}

// Member writes a member whose value is JSON, and returns where the value begins. An empty value
// writes nothing.
func (w *Writer) Member(name string, value []byte) (at int) {
	if len(value) > 0 {
		w.key(name)
		at = len(w.out)
		w.out = append(w.out, value...)
	}
	return at
}

// TextMember writes a member whose value is a string that has its escapes, and no quotes.
func (w *Writer) TextMember(name string, text []byte) {
	w.out = AppendTextMember(w.out, name, text)
}

// StringMember writes a member whose value is a string.
func (w *Writer) StringMember(name, s string) {
	w.key(name)
	w.out = jsonscan.AppendString(w.out, s)
}

// IntMember writes a member whose value is a number.
func (w *Writer) IntMember(name string, n int64) {
	w.out = AppendIntMember(w.out, name, n)
}

// BoolMember writes a member whose value is true or false.
func (w *Writer) BoolMember(name string, b bool) {
	w.key(name)
	w.out = strconv.AppendBool(w.out, b)
}

func (w *Writer) begin(bracket, end byte, member []string) {
	before := len(w.out)
	if len(member) > 0 {
		w.key(member[0])
	} else {
		w.next()
	}
	if w.open == nil {
		w.open = make([]level, 0, usualDepth)
	}
	w.out, w.open = append(w.out, bracket), append(w.open, level{end, before})
}

// key writes the name of a member, which must need no escape.
func (w *Writer) key(name string) { w.out = AppendKey(w.out, name) }

// next sets the comma before an element.
func (w *Writer) next() {
	if len(w.open) > 0 {
		w.out = AppendComma(w.out)
	}
}
