package testprovider

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
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
func (o Object) MarshalJSON() ([]byte, error) { return Encode(o), nil }

// Encode writes v as JSON. The characters < > & stay as they are, as providers
// send them. v is of Objects, slices and values that always encode.
func Encode(v any) []byte { return encode(make([]byte, 0, 512), v) }

func encode(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case string:
		return encodeString(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case Object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(encodeString(b, m.name), ':')
			b = encode(b, m.value)
		}
		return append(b, '}')
	case []Object:
		b = append(b, '[')
		for i, o := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = encode(b, o)
		}
		return append(b, ']')
	}
	return encodeOther(b, v)
}

func encodeString(b []byte, s string) []byte {
	if !plain(s) {
		return encodeOther(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

func encodeOther(b []byte, v any) []byte {
	out := bytes.NewBuffer(b)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("testprovider: encoding: " + err.Error())
	}
	return out.Bytes()[:out.Len()-1] // without the line feed of Encode
}

// plain reports whether a string is its own JSON form, as nearly all are.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
