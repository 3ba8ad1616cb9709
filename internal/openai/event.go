package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Event is one event of a provider's stream on its way to the client: through the guardrails, the
// repair and a translation. The first of them that needs its members finds them. Edits are carried
// with the event and made when it is sent.
//
// Most events of a stream repeat the one before with another text. Their members are not needed at
// all: see [Event.Repeats].
type Event struct {
	Name []byte
	Data []byte // JSON without white space around it, or [DONE]; may be empty

	vars    [Variables]Variable // of an event that repeats another, and those that were set
	set     bool                // whether any was set
	source  *Events             // nil for an event that is in no stream
	id      int
	shape   int
	repeats bool
	work    *work // nil until the members are needed
}

// Variable is a value of an event: a string with its quotes, or digits.
type Variable struct {
	Start, End int    // in the data; End is 0 if the event has none
	New        []byte // replaces it, nil to keep it
}

// The variables of an event.
const (
	VarText    = iota // of a delta
	VarNumber         // a creation time or a sequence number
	VarPadding        // hides the length of the text
	VarModel          // the model's name
	VarUsage          // an object with counts: events differ in their whole numbers
	Variables
)

// NewEvent returns an event that is in no stream: it repeats none and is not remembered.
func NewEvent(name, data []byte) *Event {
	return &Event{Name: name, Data: bytes.TrimSpace(data)}
}

// Done reports whether the event is the [DONE] of a chat stream.
func (e *Event) Done() bool { return string(e.Data) == doneMark }

// Members returns the members of the data, or an error if it is not a JSON object. They are valid
// until Release. Line ends in the data become spaces: they can only stand between tokens, and the
// lines of an event must not break.
func (e *Event) Members() ([]jsonscan.Member, error) {
	if e.work == nil {
		e.walk()
		if e.work.err == nil && hasLineEnd(e.Data) {
			e.Data = bytes.Clone(e.Data)
			unwrap(e.Data, 0)
		}
	}
	return e.work.members, e.work.err
}

// walk finds the members, and leaves the data as it is.
func (e *Event) walk() {
	e.work = works.Get().(*work)
	e.work.members, e.work.err = jsonscan.Lenient(e.Data, e.work.members[:0])
}

// Release returns the memory of the event, which must not be used after it. A stream that waits for
// its next event must have released the last.
func (e *Event) Release() {
	e.Name, e.Data = nil, nil
	if e.work != nil {
		e.work.release()
		e.work = nil
	}
}

// prepare makes e the next event of its stream, without variables.
func (e *Event) prepare() {
	if e.work != nil {
		e.Release()
	}
	if e.set || !e.repeats { // else the next has the same variables, or none
		e.vars, e.set = [Variables]Variable{}, false
	}
}

// Repeats reports whether the event differs from an earlier one, which has the same [Event.Shape],
// only in its variables. A step that has taken no event of another shape since then may handle this
// one like that one, with the variables of this one.
func (e *Event) Repeats() bool { return e.repeats }

// Shape identifies the event and those that repeat it.
func (e *Event) Shape() int { return e.shape }

// Set names a variable of the event and gives it a new value, nil to keep the old one. If others
// took another value for this variable, the event no longer repeats them.
func (e *Event) Set(kind int, v Variable) {
	if e.repeats && e.vars[kind].Start != v.Start {
		e.shape, e.repeats = e.id, false
		for i := range e.vars {
			if e.vars[i].New == nil {
				e.vars[i] = Variable{}
			}
		}
	}
	e.vars[kind], e.set = v, true
}

// Replace gives a variable that the event has a new value.
func (e *Event) Replace(kind int, value []byte) { e.vars[kind].New, e.set = value, true }

// Has reports whether the event has a variable.
func (e *Event) Has(kind int) bool { return e.vars[kind].End > 0 }

// Value returns a variable as the client gets it, nil if the event has none.
func (e *Event) Value(kind int) []byte {
	v := &e.vars[kind]
	if v.New != nil || v.End == 0 {
		return v.New
	}
	return e.Data[v.Start:v.End:v.End]
}

// Rewrite replaces the data by an edited one. Move corrects the offsets of the members.
func (e *Event) Rewrite(data []byte, move func(members []jsonscan.Member)) {
	e.Data, e.vars = data, [Variables]Variable{}
	e.shape, e.repeats = e.id, false
	move(e.work.members)
	for i := range e.work.members {
		m := &e.work.members[i]
		m.Kind = jsonscan.KindOf(data[m.ValueStart])
	}
}

// TextAt returns the value in Data[start:end] of an event, or the new value of VarText if that is in
// it.
func TextAt(e *Event, start, end int) []byte { return e.valueAt(VarText, start, end) }

// valueAt returns the value in data[start:end] with the new value of a variable, if that is in it.
func (e *Event) valueAt(kind, start, end int) []byte {
	switch v := &e.vars[kind]; {
	case v.New == nil || v.Start < start || v.End > end:
		return e.Data[start:end:end]
	case v.Start == start && v.End == end:
		return v.New
	default:
		value := append([]byte(nil), e.Data[start:v.Start]...)
		value = append(value, v.New...)
		return append(value, e.Data[v.End:end]...)
	}
}

// AppendTo appends the data with all edits to dst.
func (e *Event) AppendTo(dst []byte) []byte {
	if e.work == nil {
		return e.appendRepeated(dst)
	}
	for _, v := range e.vars {
		if v.New != nil {
			e.work.edits.put(v.Start, v.End, v.New)
		}
	}
	return e.work.edits.append(dst, e.Data)
}

// appendRepeated appends the data of an event whose members were not needed.
func (e *Event) appendRepeated(dst []byte) []byte {
	if !e.repeats {
		return append(dst, e.Data...)
	}
	at := 0
	for i := range e.source.n {
		if v := &e.vars[e.source.vars[i].kind]; v.New != nil {
			dst = append(append(dst, e.Data[at:v.Start]...), v.New...)
			at = v.End
		}
	}
	return append(dst, e.Data[at:]...)
}

// Learn remembers the event with its variables, so that others can repeat it. It reports whether
// they can. The last step calls it: the one that writes the event for the client.
func (e *Event) Learn(vars [Variables]Variable) bool {
	for kind := range vars {
		if v := &e.vars[kind]; v.End > 0 && v.Start != vars[kind].Start {
			return false // not what others take for it
		}
	}
	return e.repeats || e.source != nil && e.source.learn(e, vars)
}
