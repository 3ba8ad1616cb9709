package jsonscan

import (
	"bytes"
	"unicode/utf8"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// walk scans the object at the start of data, after any white space, and returns the index behind
// its closing brace or that of the fault. A key at fault becomes the last member. The check, which may
// be nil, compares the keys inside the values.
func walk(data []byte, dst []Member, limit int, strict bool, check *keyCheck) ([]Member, int, fault) {
	first := len(dst)
	i := space(data, 0)
	if i == len(data) {
		return dst, i, faultEnd
	}
	if data[i] != '{' {
		if i == 0 && bytes.HasPrefix(data, byteOrderMark) {
			return dst, i, faultBOM
		}
		return dst, i, faultNotObject
	}
	i = space(data, i+1)
	if i < len(data) && data[i] == '}' {
		return dst, i + 1, ok
	}
	for {
		var m Member
		var f fault
		m.KeyStart = i + 1
		var isPlain bool
		if i, m.KeyEnd, isPlain, f = key(data, i); f != ok {
			return dst, i, f
		}
		if len(dst)-first >= limit {
			return dst, m.KeyStart - 1, faultMembers
		}
		if strict {
			if f = judge(data, dst[first:], m, isPlain, check); f != ok {
				return append(dst, m), m.KeyStart - 1, f
			}
		}
		if i, f = m.value(data, i, isPlain, check); f != ok {
			if f.ofKey() {
				dst = append(dst, m)
			}
			return dst, i, f
		}
		dst = append(dst, m)

		if i = space(data, i); i == len(data) {
			return dst, i, faultEnd
		}
		switch data[i] {
		case ',':
			i = space(data, i+1)
		case '}':
			return dst, i + 1, ok
		default:
			return dst, i, faultCharacter
		}
	}
}

// value scans the member's value at i and returns the index behind it, or that of the fault.
func (m *Member) value(data []byte, i int, isPlain bool, check *keyCheck) (int, fault) {
	m.ValueStart, m.escaped = i, !isPlain
	if check != inside {
		m.Nested = walkedKeys
	}
	if check != nil && check != inside {
		check.outermost(m.Key(data), 1)
	}
	i, f := skip(data, i, 1, &m.Nested, check)
	if f == ok {
		m.ValueEnd, m.Kind = i, KindOf(data[m.ValueStart])
	}
	return i, f
}

// judge finds what is wrong with a top-level key of a caller. The check may be nil.
func judge(data []byte, before []Member, m Member, isPlain bool, check *keyCheck) fault {
	name := data[m.KeyStart:m.KeyEnd]
	if len(name) > MaxKey {
		return faultKeyLong
	}
	if !isPlain {
		for _, c := range name {
			if c == '\\' {
				return faultKeyEscaped
			}
			if c >= utf8.RuneSelf {
				return faultKeyNonASCII
			}
		}
	}
	for _, other := range before {
		if other.KeyEnd-other.KeyStart == len(name) && foldEqual(data[other.KeyStart:other.KeyEnd], name) {
			return faultKeyRepeated
		}
		if check != nil && check.twoSpellings && check.same(data, keySpan{start: other.KeyStart, end: other.KeyEnd}, keySpan{start: m.KeyStart, end: m.KeyEnd}, false) {
			return faultKeyRepeated
		}
	}
	return ok
}

// foldEqual compares ASCII texts of one length. Among ASCII, simple case folding touches the
// letters only: the runes that fold to them from outside (U+017F to s, U+212A to k) were refused
// before.
func foldEqual(a, b []byte) bool {
	for i, c := range a {
		if c != b[i] && lower(c) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// KindOf maps the first byte of a valid value to its [Member] kind.
func KindOf(c byte) byte {
	switch c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	}
	return '0'
}
