package judge

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxPath is how many bytes the id of a channel may have. A string with a longer one is read as
	// a whole text.
	maxPath = 1024

	// maxIndex is how many digits an index may have.
	maxIndex = 10
)

// wholeInDelta are members of a delta that are not split over deltas. Of a function's name clients
// read only the first piece.
var wholeInDelta = map[string]bool{"name": true, "format": true, "mime_type": true, "annotations": true, "images": true,
	"id": true, "type": true, "role": true}

// element is what is known of an open element of an array in an event. It is parsed once, however
// many strings it has.
type element struct {
	start    int
	index    []byte // as JSON, nil for none
	typ      []byte
	id       []byte
	toolCall int // index of its tool call in Stream.calls
}

// element returns the element of the walker's frame at depth.
func (e *eventEdit) element(w *document.Walker, depth int, choice string) *element {
	for len(e.elements) <= depth {
		e.elements = append(e.elements, element{start: -1})
	}
	frame, el := &w.Frames[depth], &e.elements[depth]
	if el.start == frame.Start {
		return el
	}
	object := e.data[frame.Start:]
	e.inner = jsonscan.Members(object, e.inner[:0])
	members := e.inner
	*el = element{start: frame.Start, typ: member(object, members, "type"), id: member(object, members, "id")}
	if index := member(object, members, "index"); isIndex(index) {
		el.index = index
	}
	if frame.Name == "tool_calls" {
		el.toolCall = e.toolCall(choice, el)
	}
	return el
}

// isIndex reports whether a value is a whole number without sign and exponent.
func isIndex(value []byte) bool {
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(value) > 0 && len(value) < maxIndex
}

// path appends to id the path from the frame at from to the string that the walker visits. It
// returns false if the string is not a piece of a text.
func (e *eventEdit) path(id []byte, w *document.Walker, from int, choice string) ([]byte, bool) {
	for i := from; i < len(w.Frames); i++ {
		frame := &w.Frames[i]
		if !frame.Object {
			continue
		}
		if !w.Frames[i-1].Object {
			id = append(id, '[')
			if el := e.element(w, i, choice); frame.Name == "tool_calls" {
				id = strconv.AppendInt(id, int64(el.toolCall), 10)
			} else {
				id = append(id, el.index...)
			}
			id = append(id, ']')
		}
		id = append(append(id, '/'), frame.Key...)
		if frame.Key == "" || wholeInDelta[frame.Key] || len(id) > maxPath {
			return nil, false
		}
	}
	return id, len(id) <= maxPath
}

// enclosing returns the JSON before and after a piece in an inserted event, from the frame at from
// on. It has the same structure as path.
func (e *eventEdit) enclosing(w *document.Walker, from int, choice string) (head, tail []byte) {
	for i := from; i < len(w.Frames); i++ {
		frame := &w.Frames[i]
		if !frame.Object {
			head, tail = append(head, '['), append([]byte{']'}, tail...)
			continue
		}
		head, tail = append(head, '{'), append([]byte{'}'}, tail...)
		if !w.Frames[i-1].Object {
			el := e.element(w, i, choice)
			head = appendMember(head, "index", el.index)
			if frame.Name == "tool_calls" {
				head = appendMember(head, "id", e.stream.callID(choice, el.toolCall))
			} else {
				head = appendMember(head, "type", el.typ)
			}
		}
		head = append(jsonscan.AppendString(head, frame.Key), ':')
	}
	return head, tail
}
