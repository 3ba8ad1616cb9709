package chatongemini

import (
	"bytes"
	"encoding/binary"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// maxRepeated bounds an event that is remembered, in bytes; those with a piece of text are shorter.
const maxRepeated = 1 << 10

// repeated is the last event that had a piece of text and nothing else. Most events of an answer differ
// from it in the text and in the digits of their usage only: these need not be read as JSON.
type repeated struct {
	event   []byte // with its lines; empty if there is none
	text    place  // with its quotes
	usage   place  // behind the text; empty if it has no counts
	thought bool   // the text is a thought

	texts   int  // in the event that is read
	special bool // it has what no other event repeats
}

// place is where a value stands in an event.
type place struct{ start, end int }

// begin begins an event that is read as JSON.
func (e *repeated) begin() { *e = repeated{event: e.event[:0]} }

// found notes a text in the event.
func (e *repeated) found(start, end int) {
	e.texts++
	e.text = place{start, end}
}

// learn remembers the event if others may repeat it.
func (e *repeated) learn(raw, data []byte) {
	from := bytes.Index(raw, data)
	if e.usage.end == 0 {
		e.usage = place{e.text.end, e.text.end}
	}
	if e.texts != 1 || e.special || e.usage.start < e.text.end || len(raw) > maxRepeated || from < 0 {
		return
	}
	for _, p := range []*place{&e.text, &e.usage} {
		*p = place{p.start + from, p.end + from}
	}
	e.event = append(e.event, raw...)
}

// match returns the text of the event that the bytes begin with, without quotes, and the length of the
// event if it repeats the one remembered. It notes the usage.
func (e *repeated) match(received []byte, u *usage) (text []byte, size int) {
	if len(e.event) == 0 || !bytes.HasPrefix(received, e.event[:e.text.start]) {
		return nil, 0
	}
	at, ok := jsonscan.StringEnd(received, e.text.start)
	between, rest := e.event[e.text.end:e.usage.start], e.event[e.usage.end:]
	if !ok || !bytes.HasPrefix(received[at:], between) {
		return nil, 0
	}
	text, _ = translate.Unquoted(received[e.text.start:at])
	at += len(between)
	end, ok := sameButDigits(received, at, e.event[e.usage.start:e.usage.end])
	if !ok || !bytes.HasPrefix(received[end:], rest) {
		return nil, 0
	}
	if end > at {
		u.last = append(u.last[:0], received[at:end]...)
	}
	return text, end + len(rest)
}

// sameButDigits reports whether data has at an index what was seen before, with numbers that may
// differ. It returns the end.
func sameButDigits(data []byte, at int, seen []byte) (end int, ok bool) {
	for i := 0; i < len(seen); {
		for i+8 <= len(seen) && at+8 <= len(data) && binary.NativeEndian.Uint64(seen[i:]) == binary.NativeEndian.Uint64(data[at:]) {
			i, at = i+8, at+8
		}
		switch {
		case i == len(seen):
		case at == len(data):
			return 0, false
		case isDigit(seen[i]) && isDigit(data[at]):
			i, at = digitsEnd(seen, i), digitsEnd(data, at)
		case seen[i] != data[at]:
			return 0, false
		default:
			i++
			at++
		}
	}
	return at, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func digitsEnd(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}
