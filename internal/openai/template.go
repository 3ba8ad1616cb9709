package openai

// maxTemplate bounds a template in bytes. It is held as long as the stream.
const maxTemplate = 2 << 10

// template is the last event that was sent. What repeats it is sent with other variables.
type template struct {
	event []byte // empty for none
	holes [Variables]hole
	n     int
}

// hole is where a variable stands in an event, of at most maxTemplate bytes: a stream holds all holes as
// long as it lasts.
type hole struct {
	kind   int16
	at     int16
	length int16
	twice  int16 // bytes up to the same value once more, 0 if it stands there once
}

// learn makes the template of an event that is remembered. Its data begins at from in what was
// sent.
func (t *template) learn(e *Event, sent []byte, from int) {
	t.event, t.n = append(t.event[:0], sent...), 0
	w := e.work
	for i := range e.source.n { // their order; this event may have them elsewhere
		kind := e.source.vars[i].kind
		v := &w.vars[kind]
		h := hole{kind: int16(kind), at: int16(from + w.edits.moved(v.Start)), length: int16(len(e.valueAt(kind, v.Start, v.End)))}
		if kind == VarText {
			h.twice = int16(w.text.twice)
		}
		t.holes[t.n] = h
		t.n++
	}
}

// append appends the event with the variables of e.
func (t *template) append(dst []byte, e *Event) []byte {
	from := int16(0)
	for i := range t.holes[:t.n] {
		h := &t.holes[i]
		value := e.Value(int(h.kind))
		dst = append(dst, t.event[from:h.at]...)
		dst = append(dst, value...)
		from = h.at + h.length
		if h.twice > 0 {
			dst = append(dst, t.event[from:from+h.twice]...)
			dst = append(dst, value...)
			from += h.twice + h.length
		}
	}
	return append(dst, t.event[from:]...)
}
