package answers

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Object is a JSON object that keeps the order of its members, as providers
// send them: id first, usage last.
type Object []member

type member struct {
	name  string
	value any
}

// Get returns the value of a member, nil without it.
func (o Object) Get(name string) any {
	if i := o.index(name); i >= 0 {
		return o[i].value
	}
	return nil
}

// Has reports whether there is such a member.
func (o Object) Has(name string) bool { return o.index(name) >= 0 }

// With returns a copy in which the member has the value, in its old position or at the end.
func (o Object) With(name string, value any) Object {
	out := slices.Clone(o)
	if i := o.index(name); i >= 0 {
		out[i].value = value
		return out
	}
	return append(out, member{name, value})
}

// Without returns a copy without these members.
func (o Object) Without(names ...string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return slices.Contains(names, m.name) })
}

func (o Object) index(name string) int {
	return slices.IndexFunc(o, func(m member) bool { return m.name == name })
}

// MarshalJSON implements [json.Marshaler].
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = slices.Concat(b, Encode(m.name), []byte(":"), Encode(m.value))
	}
	return append(b, '}'), nil
}

// Encode writes v, which always encodes, as JSON. The characters < > & stay as they are, as providers
// send them.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("answers: encoding: " + err.Error())
	}
	return b.Bytes()[:b.Len()-1] // without the line feed of Encode
}
