package openrouter

import (
	"bytes"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Preferences returns the object `provider` of a request as the caller wrote it, nil for none. The
// error is a [*apierror.Error].
func Preferences(b *jsonscan.Body) ([]byte, error) {
	i, ok := b.Find("provider")
	if !ok || b.Members()[i].Kind == 'n' {
		return nil, nil
	}
	if b.Members()[i].Kind != '{' {
		return nil, refuse("provider", "%q must be an object", "provider")
	}
	return b.Value(i), nil
}

// WithMaxPrice returns the object `provider` that tells OpenRouter which upstreams are too dear, in USD
// per million tokens (`max_price`). The caller's other preferences stay, and its own maximum if that is
// lower. Without it any upstream of the model may answer, and the list states the price of one. nil is
// an empty object.
func WithMaxPrice(preferences []byte, prompt, completion string) []byte {
	if preferences == nil {
		preferences = []byte("{}")
	}
	return replace(preferences, "max_price", func(old []byte) []byte {
		if len(old) == 0 || old[0] != '{' {
			old = []byte("{}")
		}
		return replace(replace(old, "prompt", lower(prompt)), "completion", lower(completion))
	})
}

// SetProvider replaces the object `provider` of a request; nil removes it.
func SetProvider(b *jsonscan.Body, preferences []byte) {
	switch i, ok := b.Find("provider"); {
	case ok && preferences == nil:
		b.Drop(i)
	case ok:
		b.Set(i, preferences)
	case preferences != nil:
		b.Add("provider", preferences)
	}
}

// AppendProvider adds the object `provider` to a request without one, unless it is nil. The request
// must be one that the gateway wrote itself: no white space around it, at least one member. It is
// overwritten.
func AppendProvider(object, preferences []byte) []byte {
	if preferences == nil {
		return object
	}
	object = append(object[:len(object)-1], `,"provider":`...)
	return append(append(object, preferences...), '}')
}

// replace returns the object with exactly one member of that name. value makes its value from the
// last one that the object had, nil for none.
func replace(object []byte, name string, value func(old []byte) []byte) []byte {
	members := jsonscan.Members(object, nil)
	p := jsonscan.NewPatch(object, members)
	var old []byte
	for i, m := range members {
		if string(m.DecodedKey(object)) == name {
			old = m.Value(object)
			p.Drop(i)
		}
	}
	p.Add(name, value(old))
	return p.Append(nil)
}

// lower returns a function that keeps the old value if it is a number, or a string of one, below
// most, and replaces it by most otherwise.
func lower(most string) func(old []byte) []byte {
	return func(old []byte) []byte {
		said, err := strconv.ParseFloat(string(bytes.Trim(old, `"`)), 64)
		limit, _ := strconv.ParseFloat(most, 64)
		if err != nil || !(0 <= said && said < limit) {
			return []byte(most)
		}
		return strconv.AppendFloat(nil, said, 'f', -1, 64) // a plain notation
	}
}
