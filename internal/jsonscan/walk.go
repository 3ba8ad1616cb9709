package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Walker goes once through a value, from start to end, and yields its tokens. The value must be
// part of a text that [Strict] or [Lenient] accepted: a walker does not check the grammar again. It
// has no stack, so a deep value costs no memory.
//
//	w := jsonscan.Walk(value)
//	for t, ok := w.Next(); ok; t, ok = w.Next() {
//		switch t.Kind {
//		case jsonscan.Key:
//		case '{', '[':
//			w.Skip() // goes to its end
//		}
//	}
//
// A text that is not valid JSON yields some tokens, and the walk ends.
type Walker struct {
	data []byte
	next int // bytes before it were yielded or skipped
	open int // where the object or array that was yielded last begins
}

// Token is one token of a JSON text, as offsets into the walked bytes. A key and a string include
// their quotes. Commas, colons and white space are no tokens.
type Token struct {
	// Kind is '{', '}', '[' or ']' where an object or array begins or ends, [Key] for a key, and
	// for any other value as in [Member].
	Kind       byte
	Start, End int
}

// Key is the Kind of a key. The next token begins its value.
const Key = ':'

// Walk begins a walk through a value.
func Walk(value []byte) Walker { return Walker{data: value} }

// Next returns the next token. It is false at the end.
func (w *Walker) Next() (t Token, ok bool) {
	data := w.data
	for i := w.next; i < len(data); i++ {
		switch c := data[i]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
		case '{', '[':
			w.next, w.open = i+1, i
			return Token{c, i, i + 1}, true
		case '}', ']':
			w.next = i + 1
			return Token{c, i, i + 1}, true
		case '"':
			end := stringEnd(data, i)
			w.next = end
			// A colon follows keys only, so no stack of open objects is needed.
			if next := space(data, end); next < len(data) && data[next] == ':' {
				c, w.next = Key, next+1
			}
			return Token{c, i, end}, true
		default:
			end := i + 1
			for end < len(data) && !endsScalar[data[end]] {
				end++
			}
			w.next = end
			return Token{KindOf(c), i, end}, true
		}
	}
	w.next = len(data)
	return Token{}, false
}

// Skip goes behind the object or array that began last, if the walk is still in it.
func (w *Walker) Skip() { w.next = max(w.next, ValueEnd(w.data, w.open)) }

// ValueEnd returns the end of the valid object or array at start.
func ValueEnd(data []byte, start int) int {
	depth := 0
	for i := start; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(data)
}

// endsScalar are the bytes that end a number, true, false or null.
var endsScalar = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, '}': true, ']': true}

// stringEnd returns the index behind the string at i, which is valid.
func stringEnd(data []byte, i int) int {
	i++
	for n := 0; n < bulkAfter && i+8 <= len(data); n += 8 {
		m := marksString(binary.LittleEndian.Uint64(data[i:]))
		if m == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(m) / 8; data[i] == '"' {
			return i + 1
		}
		i += 2 // the escaped character is no end; the digits of \u are none either
	}
	for i < len(data) {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			break
		}
		quote, escaped := i+n, false
		for j := quote - 1; j >= i && data[j] == '\\'; j-- {
			escaped = !escaped
		}
		if i = quote + 1; !escaped {
			return i
		}
		if vectors { // more quotes may be escaped
			i = scan(data, i)
		}
	}
	return len(data)
}

// marksString is [marks] for quotes and backslashes alone.
func marksString(x uint64) uint64 {
	quote, backslash := x^everyQuote, x^everyBackslash
	return ((quote-everyOne)&^quote | (backslash-everyOne)&^backslash) & everyHigh
}
