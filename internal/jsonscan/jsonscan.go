// Package jsonscan reads the top level of a JSON object in one pass and edits it without rebuilding
// it.
//
// A gateway has to know a few members of a body (model, stream, a token cap) and has to pass
// everything else on as it came. So a body is read once: by [StrictAll] if a caller sent it, by
// [Lenient] if a provider did. Both check the RFC 8259 grammar at every depth, because a text that
// two parsers read differently is a way around every rule. Both return the members as offsets into
// the text:
//
//	members, err := jsonscan.StrictAll(body, nil)
//	i, ok := jsonscan.Find(body, members, "model")
//	name, ok := jsonscan.String(members[i].Value(body))
//
// A [Body] keeps such a text together with its members and the edits that later steps add; a
// [Patch] is the edits alone. Both replace, drop and add members and leave every other byte alone.
//
// [Members] and [Elements] read one level further down, [AllMembers] and [AllElements] without
// collecting what they find. [Walk] goes through all levels of a text that was checked before.
//
// Nothing here allocates if the given slices have the capacity, except errors, decoded strings and
// what a function's comment names.
package jsonscan

import (
	"bytes"
	"fmt"
	"math"
)

const (
	// MaxDepth is how deep objects and arrays may be nested, the outermost counted. Each level
	// costs one bit on the stack; no API nests so deep, and encoding/json stops at 10,000.
	MaxDepth = 512

	// MaxMembers is how many members a caller's object may have, and MaxKey how many bytes a key of
	// it: several times what the APIs name. Repeated keys are found by comparing pairs, and the
	// bounds keep the worst body at about half a millisecond.
	MaxMembers = 128
	MaxKey     = 128

	// MaxAnswerMembers is how many members a provider's object may have. Price lists hold some
	// thousands; each costs 40 bytes in the walk's result.
	MaxAnswerMembers = 1 << 16

	// maxErrorKey bounds the key that an error quotes: a caller chooses its length, and the text
	// goes into an answer and a log line.
	maxErrorKey = 64
)

// Member is one member of a walked object, as offsets into the walked bytes.
type Member struct {
	KeyStart, KeyEnd     int  // the key without its quotes, as written
	ValueStart, ValueEnd int  // the value; a string with its quotes
	Kind                 byte // '{', '[', '"', 't', 'f', 'n', or '0' for any number

	escaped bool // the key may be written with escapes

	// Nested holds every key at any depth inside the value, so that a value without the keys that
	// matter need not be read a second time.
	Nested KeySet
}

// Key returns the member's key as written in data, without its quotes.
func (m Member) Key(data []byte) []byte { return data[m.KeyStart:m.KeyEnd:m.KeyEnd] }

// PlainKey reports that the key has no escape, so that [Member.Key] is what every decoder reads. It
// may be false for such a key, too.
func (m Member) PlainKey() bool { return !m.escaped }

// DecodedKey returns the key with its escapes decoded. Only an escaped key allocates.
func (m Member) DecodedKey(data []byte) []byte {
	if !m.escaped {
		return m.Key(data)
	}
	s, _ := String(data[m.KeyStart-1 : m.KeyEnd+1])
	return []byte(s)
}

// Value returns the member's value as written in data.
func (m Member) Value(data []byte) []byte { return data[m.ValueStart:m.ValueEnd:m.ValueEnd] }

// Span is one element of a walked array, as offsets into the walked bytes. Kind is as in [Member].
type Span struct {
	Start, End int
	Kind       byte
}

// Value returns the element as written in data.
func (s Span) Value(data []byte) []byte { return data[s.Start:s.End:s.End] }

// SyntaxError says why a text was refused.
type SyntaxError struct {
	Offset int    // of the byte at fault
	Reason string // a few words, such as "duplicate key" or "trailing data"
	Key    string // the key at fault, cut to 64 bytes; "" if none
	Before string // the key that it repeats, if that is written otherwise
	In     string // the member of the body that the key is in; "" for the body itself
}

func (e *SyntaxError) Error() string {
	text := fmt.Sprintf("invalid json at byte %d: %s", e.Offset, e.Reason)
	if e.Key != "" {
		text += fmt.Sprintf(" %q", e.Key)
	}
	if e.Before != "" {
		text += fmt.Sprintf(" beside %q, which is read as the same", e.Before)
	}
	if e.In != "" {
		text += fmt.Sprintf(" in %q", e.In)
	}
	return text
}

// Strict walks a caller's body and appends its members to dst.
//
// The text must be one JSON object with nothing but white space around it, in valid UTF-8 without a
// byte order mark, within [MaxDepth] and [MaxMembers]. Its top-level keys must be plain ASCII of at
// most [MaxKey] bytes, without escapes, and unique after Unicode simple case folding: decoders
// disagree on which of two equal keys counts, and Go's encoding/json also matches keys that only
// fold to the same text. So a second "Model" could replace the first, which was the one checked.
// The error is a [*SyntaxError]; the members before it are still returned.
func Strict(data []byte, dst []Member) ([]Member, error) {
	return whole(data, dst, MaxMembers, true, nil)
}

// StrictAll is Strict for a body that is judged at every depth: the keys of every object in it must be
// unique, too. They may have escapes and any length. Below a member of a free name (see [IsFree]) only
// exact duplicates are refused.
func StrictAll(data []byte, dst []Member) ([]Member, error) {
	return strictAll(data, dst, false)
}

func strictAll(data []byte, dst []Member, twoSpellings bool) ([]Member, error) {
	check := newKeyCheck(twoSpellings)
	defer check.release()
	return whole(data, dst, MaxMembers, true, check)
}

// Unambiguous reports as an error that a text is not what [Strict] accepts, at every depth: that no object
// in it has a key which decoders read differently.
func Unambiguous(data []byte) error {
	tokens := Walk(data)
	if _, err := Strict(data, nil); err != nil {
		return err
	}
	for t, ok := tokens.Next(); ok; t, ok = tokens.Next() {
		if t.Kind != '{' {
			continue
		}
		if _, err := Strict(data[t.Start:ValueEnd(data, t.Start)], nil); err != nil {
			return err
		}
	}
	return nil
}

// Lenient walks a provider's answer and appends its members to dst. It checks what [Strict] does
// except the keys, which may be long, escaped, non-ASCII or repeated ([Find] takes the last), and
// it allows [MaxAnswerMembers]. The error is a [*SyntaxError].
func Lenient(data []byte, dst []Member) ([]Member, error) {
	return whole(data, dst, MaxAnswerMembers, false, nil)
}

func whole(data []byte, dst []Member, limit int, strict bool, check *keyCheck) ([]Member, error) {
	dst, i, f := walk(data, dst, limit, strict, check)
	if f == ok {
		if i = space(data, i); i < len(data) {
			f = faultTrailing
		}
	}
	if f == ok {
		return dst, nil
	}
	err := &SyntaxError{Offset: i, Reason: f.String()}
	if f.ofKey() {
		// The member at fault was appended last, for its key.
		m := dst[len(dst)-1]
		dst = dst[:len(dst)-1]
		if err.Key = shown(m.Key(data)); m.ValueStart > 0 { // a key in its value
			err.In, err.Key, err.Offset = err.Key, shown(check.found.of(data)), check.found.start-1
			if before := shown(check.before.of(data)); before != err.Key {
				err.Before = before
			}
		}
	}
	return dst, err
}

// shown returns a key as an error quotes it.
func shown(key []byte) string { return string(key[:min(len(key), maxErrorKey)]) }

// Members appends the members of an object that lies inside a text [Strict] or [Lenient] accepted.
// The offsets count from the start of object. Keys are as written and may repeat. Anything but a
// valid object gives the members before the fault. Only the length of the object bounds their
// number: a member of 5 bytes costs 40 in dst.
func Members(object []byte, dst []Member) []Member {
	dst, _, _ = walk(object, dst, math.MaxInt, false, nil)
	return dst
}

// Find returns the index of the member named key. Keys are compared as written in data, byte for
// byte. Of several, the last one counts, as in most decoders.
func Find(data []byte, members []Member, key string) (int, bool) {
	for i := len(members) - 1; i >= 0; i-- {
		if m := members[i]; m.KeyEnd-m.KeyStart == len(key) && string(data[m.KeyStart:m.KeyEnd]) == key {
			return i, true
		}
	}
	return 0, false
}

// IsNull reports whether value is the literal null.
func IsNull(value []byte) bool { return bytes.Equal(value, []byte("null")) }
