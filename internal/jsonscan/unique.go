package jsonscan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxOpenKeys is how many keys the objects may have together that are open at one place of a
	// caller's body. They are kept until their object ends, 24 bytes each.
	MaxOpenKeys = 1 << 16

	// maxPairs is how many keys of an object are compared in pairs. More are hashed and sorted at its
	// end, because otherwise a caller could choose the square of their number.
	maxPairs = 32

	// keptKeys is how many keys the memory of a check may hold that is used again.
	keptKeys = 1 << 10
)

// IsFree reports whether the keys below a member of this name are the caller's own words: labels,
// the properties of a schema, what a tool gets and gives. They may differ in case only.
func IsFree(key []byte) bool {
	switch string(key) {
	case "metadata", "client_metadata", "labels", "attributes", "trace", "_meta",
		"parameters", "parametersJsonSchema", "parameters_json_schema", "schema", "input_schema", "inputSchema",
		"responseSchema", "response_schema", "responseJsonSchema", "response_json_schema", "guided_json",
		"properties", "patternProperties", "$defs", "definitions", "dependentSchemas",
		"arguments", "args", "input", "input_examples", "response", "result", "structuredContent", "documents",
		"variables", "logit_bias", "headers", "env", "chat_template_kwargs", "extra_body", "extra_content", "annotations":
		return true
	}
	return false
}

// keyCheck finds keys inside a value that a decoder could take for one. Its memory is for the keys
// of the objects that are open.
type keyCheck struct {
	twoSpellings bool // camel case and snake case are one: "_" does not count
	keys         []keySpan
	levels       [MaxDepth + 1]keyLevel // by depth, of the objects and arrays that are open

	found, before keySpan // the key that repeats another one, and that
}

type keySpan struct {
	start, end int
	hash       uint64 // only of an object with more than maxPairs keys
}

func (k keySpan) of(data []byte) []byte { return data[k.start:k.end] }

// keyLevel is an object or array that is open.
type keyLevel struct {
	free  bool   // the keys in it are the caller's own words
	first int    // of its keys
	set   KeySet // an approximation of them
}

var keyChecks = sync.Pool{New: func() any { return new(keyCheck) }}

func newKeyCheck(twoSpellings bool) *keyCheck {
	c := keyChecks.Get().(*keyCheck)
	c.twoSpellings, c.keys = twoSpellings, c.keys[:0]
	return c
}

func (c *keyCheck) release() {
	if cap(c.keys) > keptKeys {
		c.keys = nil
	}
	keyChecks.Put(c)
}

// outermost begins the value of a member of the body, at this depth. An input at the top is the
// conversation; inside it, an input is that of a tool.
func (c *keyCheck) outermost(key []byte, depth int) {
	c.levels[depth].free = IsFree(key) && string(key) != "input"
}

// open begins an object or array. It is the value of the last key if it is in an object.
func (c *keyCheck) open(data []byte, depth int, inObject bool) {
	free := c.levels[depth-1].free
	if inObject && !free {
		last := c.keys[len(c.keys)-1]
		free = IsFree(data[last.start:last.end])
	}
	c.levels[depth] = keyLevel{free: free, first: len(c.keys)}
}

// close ends an object or array.
func (c *keyCheck) close(data []byte, depth int) fault {
	keys := c.keys[c.levels[depth].first:]
	c.keys = c.keys[:c.levels[depth].first]
	if len(keys) <= maxPairs {
		return ok
	}
	free := c.levels[depth].free
	for i := range keys {
		keys[i].hash = c.hash(data[keys[i].start:keys[i].end], free)
	}
	slices.SortFunc(keys, func(a, b keySpan) int { return cmp.Compare(a.hash, b.hash) })
	for i := 1; i < len(keys); i++ {
		if keys[i-1].hash == keys[i].hash && c.same(data, keys[i-1], keys[i], free) {
			c.before, c.found = keys[i-1], keys[i]
			if c.before.start > c.found.start {
				c.before, c.found = c.found, c.before
			}
			return faultKeyRepeated
		}
	}
	return ok
}

// hash returns a number that is equal for keys that are the same.
func (c *keyCheck) hash(key []byte, free bool) uint64 {
	var h maphash.Hash
	h.SetSeed(keySeed)
	var r rune
	for r, key = nextRune(key, !free, c.twoSpellings && !free); r >= 0; r, key = nextRune(key, !free, c.twoSpellings && !free) {
		var code [4]byte
		binary.LittleEndian.PutUint32(code[:], uint32(r))
		_, _ = h.Write(code[:])
	}
	return h.Sum64()
}

// keySeed keeps callers from choosing keys of one hash.
var keySeed = maphash.MakeSeed()

// add notes a key of the innermost object, and compares it with those before it.
func (c *keyCheck) add(data []byte, key keySpan, bit KeySet, depth int) fault {
	level := &c.levels[depth]
	if c.twoSpellings && !level.free && bit != strangeKey {
		bit = spellingSet(data[key.start:key.end])
	}
	before := c.keys[level.first:]
	if level.set&(bit|strangeKey) != 0 || bit == strangeKey {
		if len(before) < maxPairs {
			for _, other := range before {
				if c.same(data, other, key, level.free) {
					c.before, c.found = other, key
					return faultKeyRepeated
				}
			}
		}
	}
	if len(c.keys) >= MaxOpenKeys {
		return faultKeys
	}
	level.set |= bit
	c.keys = append(c.keys, key)
	return ok
}

// spellingSet is keySet for a key that has two spellings.
func spellingSet(key []byte) KeySet {
	if len(key) == 0 || key[0] == '_' || key[len(key)-1] == '_' {
		return strangeKey
	}
	return keySet([]byte{key[0], key[len(key)-1]})
}

// same reports whether a decoder could take two keys for one: after decoding and, if they are not
// free, without regard to case.
func (c *keyCheck) same(data []byte, a, b keySpan, free bool) bool {
	x, y := data[a.start:a.end], data[b.start:b.end]
	if bytes.Equal(x, y) {
		return true
	}
	for skip := c.twoSpellings && !free; ; {
		var r, s rune
		r, x = nextRune(x, !free, skip)
		s, y = nextRune(y, !free, skip)
		if r != s || r < 0 {
			return r == s
		}
	}
}

// nextRune decodes the next character of a key, -1 at its end.
func nextRune(key []byte, fold, skip bool) (r rune, rest []byte) {
	for len(key) > 0 {
		n := 1
		switch r = rune(key[0]); {
		case r == '\\' && key[1] == 'u':
			r, n = decodeUnicode(key, 2)
		case r == '\\':
			r, n = rune(unescaped[key[1]]), 2
		case r >= utf8.RuneSelf:
			r, n = utf8.DecodeRune(key)
		}
		key = key[n:]
		if skip && r == '_' {
			continue
		}
		if fold {
			r = foldRune(r)
		}
		return r, key
	}
	return -1, nil
}

// foldRune returns the least of the characters that are equal by simple case folding.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}
