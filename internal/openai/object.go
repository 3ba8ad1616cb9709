package openai

import "github.com/gatehouse-proxy/gatehouse/internal/jsonscan"

// Object is a JSON object of an answer. What is no object has no members, and one that is null is absent.
type Object struct {
	data    []byte
	members []jsonscan.Member
}

// OpenObject walks an object of an answer. The storage may be nil.
func OpenObject(object []byte, storage []jsonscan.Member) Object {
	return WalkedObject(object, jsonscan.Members(object, storage))
}

// OpenInside walks an object inside an event whose members were walked, with the event's memory.
func OpenInside(e *Event, object []byte) Object { return WalkedObject(object, e.work.inside(object)) }

// WalkedObject is an object whose members are known.
func WalkedObject(object []byte, members []jsonscan.Member) Object { return Object{object, members} }

// Get returns the value of a member, nil if it is absent.
func (o Object) Get(key string) []byte {
	if start, end := o.Span(key); end > 0 {
		return o.data[start:end:end]
	}
	return nil
}

// Span returns where the value of a member stands; end is 0 if it is absent. Of several the last counts.
func (o Object) Span(key string) (start, end int) {
	for i := len(o.members) - 1; i >= 0; i-- {
		if m := &o.members[i]; m.Kind != 'n' && string(m.DecodedKey(o.data)) == key {
			return m.ValueStart, m.ValueEnd
		}
	}
	return 0, 0
}

// Kind returns the value of a member of a kind, as [jsonscan.KindOf] has it, otherwise if it is absent
// or of another; "" stands for nil.
func (o Object) Kind(kind byte, key, otherwise string) []byte {
	if value := o.Get(key); len(value) > 0 && jsonscan.KindOf(value[0]) == kind {
		return value
	}
	if otherwise == "" {
		return nil
	}
	return []byte(otherwise)
}

// Text returns a quoted text, nil if it is absent or empty.
func (o Object) Text(key string) []byte {
	if value := o.Get(key); len(value) > len(`""`) && value[0] == '"' {
		return value
	}
	return nil
}

// failed reports whether an answer has an error.
func (o Object) failed() bool {
	value := o.Get("error")
	return value != nil && truthy(value)
}

// Index returns an index from 0 on, otherwise if it is absent.
func (o Object) Index(key string, otherwise int64) int64 {
	if n, ok := jsonscan.Int(o.Get(key)); ok && n >= 0 {
		return n
	}
	return otherwise
}
