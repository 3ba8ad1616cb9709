package fake

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object that keeps the order of its keys, as providers send
// them: id first, usage last.
type object []field

type field struct {
	key   string
	value any
}

// with sets key, in place or at the end.
func (o object) with(key string, value any) object {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, field{key, value})
}

// without takes keys out.
func (o object) without(keys ...string) object {
	kept := make(object, 0, len(o))
next:
	for _, f := range o {
		for _, key := range keys {
			if f.key == key {
				continue next
			}
		}
		kept = append(kept, f)
	}
	return kept
}

func (o object) get(key string) any {
	for _, f := range o {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(f.key))
		b.WriteByte(':')
		b.Write(encode(f.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode marshals what this package built itself, without escaping HTML or
// anything above ASCII, as Python and Rust providers do.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("fake: encoding: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
