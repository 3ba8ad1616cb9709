package guardrail

import (
	"bytes"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxShownKey bounds a key quoted in an error: the caller chose its length.
const maxShownKey = 64

// DuplicateError says that an object of a request has a key twice, after
// decoding and but for case: what was judged may not be what is read. It is
// the caller's mistake (400).
type DuplicateError struct {
	Param string // the member of the body it is in
	Key   string // the key, cut to 64 bytes
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate key %q in %s", e.Key, e.Param)
}

// LimitError says that a body has more of something than is kept in memory to
// judge it. In a request it is the caller's mistake (413).
type LimitError struct {
	What string // such as "keys"
}

func (e *LimitError) Error() string { return "more " + e.What + " than a guardrail looks at" }

// maxHeldKeys bounds what the keys of all open objects of a request may cost,
// in bytes: their lengths, and heldKey for each.
const (
	maxHeldKeys = 8 << 20
	heldKey     = 64
)

// manyKeys is how many keys of an object are compared in pairs; behind that
// they go into a map, or their number squared would be a caller's to choose.
const manyKeys = 16

// setKey takes a key, given without its quotes.
func (f *finder) setKey(top *frame, start, end int) error {
	top.expectKey = false
	key := f.data[start:end]
	top.key = ""
	plain := isPlain(key)
	if plain {
		top.key = keyText(key)
	}
	if f.answer {
		return nil
	}
	if f.repeats(top, span{start, end}, plain) {
		return &DuplicateError{Param: f.param(), Key: string(key[:min(len(key), maxShownKey)])}
	}
	if f.held > maxHeldKeys {
		return &LimitError{What: "keys"}
	}
	return nil
}

// repeats tells whether the object has the key already, and notes it.
func (f *finder) repeats(top *frame, key span, plain bool) bool {
	raw := f.data[key.start:key.end]
	before := f.keys[top.keys:]
	if plain && top.many == nil && len(before) < manyKeys {
		for _, other := range before {
			o := f.data[other.start:other.end]
			if bytes.Equal(raw, o) || !top.free && len(raw) == len(o) && bytes.EqualFold(raw, o) {
				return true
			}
		}
		f.keys = append(f.keys, key)
		return false
	}
	if top.many == nil {
		top.many = map[string]struct{}{}
		for _, other := range before {
			f.hold(top, f.data[other.start:other.end])
		}
	}
	return f.hold(top, raw)
}

// hold puts a key into the map of its object. It is true if it was there.
func (f *finder) hold(top *frame, raw []byte) (twice bool) {
	cost := len(raw) + heldKey
	top.held, f.held = top.held+cost, f.held+cost
	if f.held > maxHeldKeys {
		return false // and the walk ends
	}
	key := canonical(raw, top.free)
	_, twice = top.many[key]
	top.many[key] = struct{}{}
	return twice
}

// isPlain tells whether a key is ASCII without escapes.
func isPlain(key []byte) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// canonical is what a key is to a decoder that folds case, or to one that
// does not.
func canonical(key []byte, exact bool) string {
	s, _ := jsonscan.String(append(append([]byte{'"'}, key...), '"'))
	if exact {
		return s
	}
	runes := []rune(s)
	for i, r := range runes {
		runes[i] = fold(r)
	}
	return string(runes)
}
