package openai

import "bytes"

// splice copies src with some parts replaced. It is how an array is edited
// whose elements are edited one by one.
type splice struct {
	buf     []byte
	from    int // src before it is copied or replaced
	changed bool
}

func (s *splice) reset() { s.buf, s.from, s.changed = s.buf[:0], 0, false }

func (s *splice) put(src []byte, start, end int, value []byte) {
	s.buf = append(s.buf, src[s.from:start]...)
	s.buf = append(s.buf, value...)
	s.from, s.changed = end, true
}

// done returns the result, which is src itself when nothing was put.
func (s *splice) done(src []byte) []byte {
	if !s.changed {
		return src
	}
	s.buf = append(s.buf, src[s.from:]...)
	s.from = len(src)
	return s.buf
}

// appendData appends valid JSON as one SSE event. Line ends, which can only
// stand between tokens, become spaces: a line of data must not break.
func appendData(dst, json []byte) []byte {
	dst = append(dst, "data: "...)
	at := len(dst)
	dst = append(dst, json...)
	return append(unwrap(dst, at), "\n\n"...)
}

// appendEvent is appendData with an event name, empty for none.
func appendEvent(dst, name, json []byte) []byte {
	if len(name) > 0 {
		dst = append(dst, "event: "...)
		dst = append(dst, name...)
		dst = append(dst, '\n')
	}
	return appendData(dst, json)
}

// unwrap replaces the line ends in dst[at:].
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
