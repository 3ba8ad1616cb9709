package sse

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// span is a part of an event, as offsets from its start: the buffer moves.
type span struct{ from, to int }

func (s span) of(event []byte) []byte { return event[s.from:s.to:s.to] }

// block is what is known of one event while its bytes arrive. No byte is scanned twice, however
// small the reads are.
type block struct {
	line   int  // start of the line being read
	seen   int  // the line has no end before this offset
	end    int  // of the event, after its blank line; 0 while that is missing
	loneCR bool // the previous line ended in a CR alone

	fields   bool // a line is not a comment
	comments bool
	named    bool
	name     span // value of the last event field
	datas    int  // number of data fields
	data     span // value of the first one
}

// scan reads the lines of event, which begins at the block's start and has grown since the last
// call. It returns how many bytes of blank lines come before the block (they do not belong to it),
// and whether the block is whole. final means that no more bytes will come.
//
// A CR at the end of the bytes may be half a CRLF, so it waits for the next byte. There is one
// exception: a blank line after a line that ended in CR alone. Such a stream ends all lines so, and
// the event must not wait for the next one. Whether an LF belongs to the event thus depends only on
// the bytes before it, never on how they were split. A remaining LF is a blank line before the next
// event.
func (b *block) scan(event []byte, final bool) (blank int, whole bool) {
	if b.end > 0 {
		return 0, true
	}
	for {
		at := lineEnd(event, b.seen)
		if b.seen = at; at == len(event) {
			return blank, false
		}
		var (
			next  = at + 1
			begun = b.line > 0
			empty = at == b.line
			cr    = event[at] == '\r'
		)
		if cr && (!empty || begun && !b.loneCR) {
			if next == len(event) && !final {
				return blank, false
			}
			if next < len(event) && event[next] == '\n' {
				next++
				cr = false
			}
		}
		switch {
		case !empty:
			b.read(event[b.line:at], b.line)
			b.line, b.seen, b.loneCR = next, next, cr
		case begun:
			b.end = next
			return blank, true
		default:
			event = event[next:]
			blank += next
			b.seen = 0
		}
	}
}

// read reads a line that is not blank, offset bytes after the start of the event.
func (b *block) read(line []byte, offset int) {
	colon, value := field(line)
	if colon == 0 {
		b.comments = true
		return
	}
	b.fields = true
	switch string(line[:colon]) {
	case "data":
		if b.datas++; b.datas == 1 {
			b.data = span{offset + value, offset + len(line)}
		}
	case "event":
		b.named = true
		b.name = span{offset + value, offset + len(line)}
	}
}

// field returns where the name of a line's field ends and where its value begins. A line without a
// colon is a field with an empty value. A line that begins with a colon is a comment.
func field(line []byte) (nameEnd, value int) {
	nameEnd = bytes.IndexByte(line, ':')
	if nameEnd < 0 {
		return len(line), len(line)
	}
	value = nameEnd + 1
	if value < len(line) && line[value] == ' ' {
		value++
	}
	return nameEnd, value
}

// appendJoined appends the values of all data fields of a whole event, joined by LF.
func appendJoined(dst, event []byte) []byte {
	first := true
	for len(event) > 0 {
		at := lineEnd(event, 0)
		line := event[:at]
		event = event[min(at+1, len(event)):]
		colon, value := field(line)
		if string(line[:colon]) != "data" {
			continue
		}
		if !first {
			dst = append(dst, '\n')
		}
		dst = append(dst, line[value:]...)
		first = false
	}
	return dst
}

// lineEnd returns the index of the first CR or LF at or after i, len(data) if there is none. It
// checks eight bytes at a time: a byte below 0x0e is nearly always a line end, because JSON escapes
// the others.
func lineEnd(data []byte, i int) int {
	const (
		every0e   = 0x0e0e0e0e0e0e0e0e
		everyHigh = 0x8080808080808080
	)
	for i+8 <= len(data) {
		x := binary.LittleEndian.Uint64(data[i:])
		low := (x - every0e) &^ x & everyHigh
		if low == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(low) / 8
		if data[i] == '\n' || data[i] == '\r' {
			return i
		}
		i++
	}
	for i < len(data) && data[i] != '\n' && data[i] != '\r' {
		i++
	}
	return i
}
