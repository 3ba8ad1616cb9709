package document

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxShownKey is how many bytes of a key an error quotes. The caller chose its length.
const maxShownKey = 64

// DuplicateError says that an object of a request has a key twice, after decoding and ignoring
// case. Then the provider could read another value than the one that was judged. It is the caller's
// mistake (400).
type DuplicateError struct {
	Param string // the member of the body that contains it
	Key   string // the key, at most 64 bytes of it
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate key %q in %s", e.Key, e.Param)
}

// LimitError says that a body has more of something than is kept in memory to judge it. In a
// request it is the caller's mistake (413).
type LimitError struct {
	What string // "keys" or "matches"
}

func (e *LimitError) Error() string { return "the body has more " + e.What + " than a guardrail reads" }

// maxKeySets is how many bytes the keys of all open objects of a request may cost: their lengths,
// and keyOverhead for each.
const (
	maxKeySets  = 8 << 20
	keyOverhead = 64
)

// maxComparedKeys is how many keys of an object are compared in pairs. More go into a map, because
// otherwise a caller could choose the square of their number.
const maxComparedKeys = 16

// setKey handles a key, given without its quotes.
func (w *Walker) setKey(top *Frame, start, end int) error {
	key := w.Data[start:end]
	top.Key = ""
	plain := isPlain(key)
	if plain {
		top.Key = keyText(key)
	}
	if w.Answer {
		return nil
	}
	if w.repeats(top, Span{start, end}, plain) {
		return &DuplicateError{Param: w.Member(), Key: string(key[:min(len(key), maxShownKey)])}
	}
	if w.keySetSize > maxKeySets {
		return &LimitError{What: "keys"}
	}
	return nil
}

// repeats reports whether the object has the key already, and adds it.
func (w *Walker) repeats(top *Frame, key Span, plain bool) bool {
	raw := w.Data[key.Start:key.End]
	before := w.keys[top.firstKey:]
	if plain && top.keySet == nil && len(before) < maxComparedKeys {
		for _, other := range before {
			o := w.Data[other.Start:other.End]
			if bytes.Equal(raw, o) || !top.callerKeys && len(raw) == len(o) && bytes.EqualFold(raw, o) {
				return true
			}
		}
		w.keys = append(w.keys, key)
		return false
	}
	if top.keySet == nil {
		top.keySet = map[string]struct{}{}
		for _, other := range before {
			w.addKey(top, w.Data[other.Start:other.End])
		}
	}
	return w.addKey(top, raw)
}

// addKey adds a key to the key set of its object. It reports whether the key was there already.
func (w *Walker) addKey(top *Frame, raw []byte) (twice bool) {
	cost := len(raw) + keyOverhead
	top.keySetSize, w.keySetSize = top.keySetSize+cost, w.keySetSize+cost
	if w.keySetSize > maxKeySets {
		return false // setKey ends the walk
	}
	key := canonical(raw, top.callerKeys)
	_, twice = top.keySet[key]
	top.keySet[key] = struct{}{}
	return twice
}

// isPlain reports whether a key is ASCII without escapes.
func isPlain(key []byte) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// canonical returns what a key is for a decoder that ignores case, or with exact for one that does
// not.
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

// usualKeys are keys of the APIs. They are not copied for each body.
var usualKeys = func() map[string]string {
	keys := map[string]string{}
	var add func(*node)
	add = func(n *node) {
		for key, child := range n.next {
			keys[key] = key
			add(child)
		}
	}
	add(exemptInRequests)
	add(exemptInAnswers)
	for _, key := range strings.Fields(`arguments choices completion_tokens content content_index created created_at delta error
		finish_reason function index input item logprobs message messages name output output_index parameters prompt_tokens provider
		reasoning reasoning_content refusal response sequence_number summary_index text tool_calls total_tokens type usage
		additionalProperties anyOf default description enum items maximum minimum properties required strict`) {
		keys[key] = key
	}
	return keys
}()

// keyText returns a key as a string.
func keyText(key []byte) string {
	if usual, ok := usualKeys[string(key)]; ok {
		return usual
	}
	return string(key)
}
