package openai

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Events makes the events of one provider's stream.
type Events struct {
	event Event
	count int

	// The event that others may repeat, without data if there is none.
	name, data []byte
	shape      int
	vars       [Variables]shapeVariable // the first n, in their order
	n          int32
	besides    int32 // bytes of text in it besides VarText
}

// maxShape bounds the data of an event that is remembered, in bytes: it is held as long as the
// stream. Events with a piece of text are a few hundred bytes long.
const maxShape = 1 << 10

// Reset prepares for another stream.
func (s *Events) Reset() { *s = Events{name: s.name[:0], data: s.data[:0]} }

// Next returns the next event. It is valid until the next call and refers to name and data.
func (s *Events) Next(name, data []byte) *Event {
	e := &s.event
	e.prepare()
	s.count++
	e.Name, e.Data, e.id = name, data, s.count
	if n := len(data); n == 0 || data[0] != '{' || data[n-1] != '}' {
		e.Data = bytes.TrimSpace(data)
	}
	if len(s.data) > 0 && string(name) == string(s.name) {
		end, ok := s.match(e, e.Data)
		e.repeats = ok && end == len(e.Data)
	} else {
		e.repeats = false
	}
	if e.repeats {
		e.shape = s.shape
		return e
	}
	e.source, e.shape = s, e.id
	e.vars = [Variables]Variable{} // those before the first difference
	return e
}

// Repeated returns the event that received begins with, the bytes that have come after the last
// event, if it repeats the one remembered and stands there as nearly all do: a line with its name, if
// it has one, a data line and a blank line. So no decoder of server-sent events need split it into
// lines first. Size is its length, 0 for none. The event is valid until the next call.
func (s *Events) Repeated(received []byte) (e *Event, size int) {
	if len(s.data) == 0 {
		return nil, 0
	}
	start, ok := dataStart(received, s.name)
	if !ok {
		return nil, 0
	}
	e = &s.event
	e.prepare()
	length, ok := s.match(e, received[start:])
	if !ok {
		return nil, 0
	}
	end := start + length
	if size = end + blankLine(received[end:]); size == end {
		return nil, 0
	}
	s.count++
	e.Name, e.Data, e.id = s.name, received[start:end:end], s.count
	e.source, e.shape, e.repeats = s, s.shape, true
	return e, size
}

// dataStart returns where the data begins in an event with a name.
func dataStart(event, name []byte) (at int, ok bool) {
	if len(name) > 0 {
		if at, ok = fieldValue(event, 0, "event:"); !ok || !hasAt(event, at, name) {
			return 0, false
		}
		at += len(name)
		if at < len(event) && event[at] == '\r' {
			at++
		}
		if at++; at > len(event) || event[at-1] != '\n' {
			return 0, false
		}
	}
	return fieldValue(event, at, "data:")
}

// fieldValue returns where the value of the field at an index begins.
func fieldValue(event []byte, at int, field string) (value int, ok bool) {
	value = at + len(field)
	if len(event) <= value || string(event[at:value]) != field {
		return 0, false
	}
	if event[value] == ' ' {
		value++
	}
	return value, true
}

// blankLine returns the length of a line end and a blank line behind it, 0 if there is none.
func blankLine(rest []byte) int {
	for _, end := range []string{"\n\n", "\r\n\r\n"} {
		if len(rest) >= len(end) && string(rest[:len(end)]) == end {
			return len(end)
		}
	}
	return 0
}

// match reports whether data begins with an event that repeats the one remembered. It finds the
// variables of the event, and its end.
func (s *Events) match(e *Event, data []byte) (end int, ok bool) {
	at, from := 0, 0 // in the event, in the one remembered
	for i := range s.n {
		v := &s.vars[i]
		if same := s.data[from:v.start]; !hasAt(data, at, same) {
			return 0, false
		}
		at += v.start - from
		end, ok := 0, true
		switch old := s.data[v.start:v.end]; {
		case v.kind == VarUsage:
			end, ok = usageEnd(data, at, old)
		case v.kind != VarNumber:
			end, ok = jsonscan.StringEnd(data, at)
		case hasAt(data, at, old) && !isDigit(data, at+len(old)):
			end = at + len(old)
		default:
			for end = at; isDigit(data, end); end++ {
			}
			ok = isTime(data[at:end])
		}
		if !ok {
			return 0, false
		}
		e.vars[v.kind].Start, e.vars[v.kind].End = at, end
		at, from = end, v.end
	}
	rest := s.data[from:]
	return at + len(rest), hasAt(data, at, rest)
}

// hasAt reports whether data has a text at an index.
func hasAt(data []byte, i int, text []byte) bool {
	return len(data)-i >= len(text) && string(data[i:i+len(text)]) == string(text)
}

func isDigit(data []byte, i int) bool { return i < len(data) && '0' <= data[i] && data[i] <= '9' }

// maxCount bounds the digits of a count that may differ from the one remembered: it is below [MaxTokens].
const maxCount = 10

// usageEnd returns where the object at an index ends, if it differs from the one remembered in whole
// numbers only.
func usageEnd(data []byte, at int, old []byte) (end int, ok bool) {
	for i := 0; i < len(old); {
		for i+8 <= len(old) && at+8 <= len(data) && binary.NativeEndian.Uint64(old[i:]) == binary.NativeEndian.Uint64(data[at:]) {
			i, at = i+8, at+8
		}
		switch {
		case i == len(old):
		case at == len(data):
			return 0, false
		case old[i] == data[at]:
			i, at = i+1, at+1
		default:
			for i > 0 && isDigit(old, i-1) { // so far both have the same
				i, at = i-1, at-1
			}
			if !isDigit(old, i) {
				return 0, false
			}
			for ; isDigit(old, i); i++ {
			}
			if at, ok = countEnd(data, at); !ok {
				return 0, false
			}
		}
	}
	return at, true
}

// countEnd returns where the count at an index ends, which is not the beginning of the data.
func countEnd(data []byte, at int) (end int, ok bool) {
	for end = at; isDigit(data, end); end++ {
	}
	size := end - at
	return end, 0 < size && size <= maxCount && (size == 1 || data[at] != '0') && end < len(data) &&
		strings.IndexByte(": ", data[at-1]) >= 0 && strings.IndexByte(",} ", data[end]) >= 0
}

// learn remembers an event. It reports whether it did.
func (s *Events) learn(e *Event, vars [Variables]Variable) bool {
	s.data, s.n = s.data[:0], 0
	if vars[VarText].End == 0 || len(e.Data)+len(e.Name) > maxShape || hasLineEnd(e.Data) {
		return false
	}
	s.name, s.data, s.shape = append(s.name[:0], e.Name...), append(s.data, e.Data...), e.shape
	for kind, v := range vars {
		if v.End > 0 {
			s.vars[s.n] = shapeVariable{kind, v.Start, v.End}
			s.n++
		}
	}
	s.besides = int32(textBytes(s.data, vars[VarText].Start)) // of at most maxShape
	slices.SortFunc(s.vars[:s.n], func(a, b shapeVariable) int { return cmp.Compare(a.start, b.start) })
	return true
}

// shapeVariable is a variable of the event remembered.
type shapeVariable struct{ kind, start, end int }

// isTime reports whether value is digits that the repair leaves alone and that stay JSON wherever
// they stand.
func isTime(value []byte) bool { return isDigits(value) && value[0] != '0' }

func hasLineEnd(data []byte) bool {
	return bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0
}
