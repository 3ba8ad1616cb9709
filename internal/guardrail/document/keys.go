package document

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
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
func (f *Walker) setKey(top *Frame, start, end int) error {
	top.expectKey = false
	key := f.Data[start:end]
	top.Key = ""
	plain := isPlain(key)
	if plain {
		top.Key = keyText(key)
	}
	if f.Answer {
		return nil
	}
	if f.repeats(top, Span{start, end}, plain) {
		return &DuplicateError{Param: f.Member(), Key: string(key[:min(len(key), maxShownKey)])}
	}
	if f.held > maxHeldKeys {
		return &LimitError{What: "keys"}
	}
	return nil
}

// repeats tells whether the object has the key already, and notes it.
func (f *Walker) repeats(top *Frame, key Span, plain bool) bool {
	raw := f.Data[key.Start:key.End]
	before := f.keys[top.keys:]
	if plain && top.many == nil && len(before) < manyKeys {
		for _, other := range before {
			o := f.Data[other.Start:other.End]
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
			f.hold(top, f.Data[other.Start:other.End])
		}
	}
	return f.hold(top, raw)
}

// hold puts a key into the map of its object. It is true if it was there.
func (f *Walker) hold(top *Frame, raw []byte) (twice bool) {
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
		runes[i] = detect.Fold(r)
	}
	return string(runes)
}

// usualKeys are those of the APIs: a key that is one of them is not copied.
var usualKeys = func() map[string]string {
	keys := map[string]string{}
	var add func(*node)
	add = func(n *node) {
		for key, child := range n.next {
			keys[key] = key
			add(child)
		}
	}
	add(unreadOfRequests)
	add(unreadOfAnswers)
	for _, key := range strings.Fields(`arguments choices content content_index created created_at delta error finish_reason function index
		input item logprobs message messages name output output_index parameters provider reasoning reasoning_content refusal response
		sequence_number summary_index text tool_calls type usage`) {
		keys[key] = key
	}
	return keys
}()

// keyText is a key as a string.
func keyText(key []byte) string {
	if usual, ok := usualKeys[string(key)]; ok {
		return usual
	}
	return string(key)
}
