// Package pattern matches model names against the patterns of a configuration.
//
//	pattern.Match("openai/*", "openai/gpt-4o")               // true
//	pattern.Match("*:free", "openrouter/anthropic/x:free")   // true
//	pattern.List{"gpt-*", "o3"}.Match("o3-mini")             // false
//
// A pattern is literal text in which `*` matches any run of bytes, including the empty one, `/` and
// `:`: model names use both freely. Nothing else is special and there is no escape, because no
// provider has a `*` in a name. Matching is case-sensitive, as the providers are.
package pattern

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes bounds a pattern. The longest name in the public catalogs has under 100 bytes. So the
// bound allows any name, and keeps a pasted file from becoming a pattern.
const MaxBytes = 256

// Match reports whether the whole of name fits pattern. It allocates nothing and takes time linear
// in both, whatever their content: each piece between two stars is matched at its first occurrence,
// and never looked for again.
func Match(pattern, name string) bool {
	piece, rest, more := strings.Cut(pattern, "*")
	if !more {
		return pattern == name
	}
	if !strings.HasPrefix(name, piece) {
		return false
	}
	name = name[len(piece):]
	for {
		piece, rest, more = strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, piece)
		}
		at := strings.Index(name, piece)
		if at < 0 {
			return false
		}
		name = name[at+len(piece):]
	}
}

// MatchesSome reports whether pattern can match a name that begins with prefix.
func MatchesSome(pattern, prefix string) bool {
	start, _, more := strings.Cut(pattern, "*")
	return strings.HasPrefix(start, prefix) || more && strings.HasPrefix(prefix, start)
}

// Overlap reports whether some name fits both patterns. Of two patterns with stars only the ends can
// contradict each other: the stars take whatever stands between.
func Overlap(a, b string) bool {
	startA, _, starA := strings.Cut(a, "*")
	startB, _, starB := strings.Cut(b, "*")
	if !starA || !starB {
		return Match(a, b) || Match(b, a)
	}
	endA, endB := a[strings.LastIndexByte(a, '*')+1:], b[strings.LastIndexByte(b, '*')+1:]
	return (strings.HasPrefix(startA, startB) || strings.HasPrefix(startB, startA)) &&
		(strings.HasSuffix(endA, endB) || strings.HasSuffix(endB, endA))
}

// IsExact reports whether pattern matches only one name, itself.
func IsExact(pattern string) bool {
	return !strings.Contains(pattern, "*")
}

// Valid returns an error for a pattern that can only be a mistake: empty, longer than MaxBytes, not
// UTF-8, or with characters that no model name contains.
func Valid(pattern string) error {
	switch {
	case pattern == "":
		return errors.New("pattern is empty")
	case len(pattern) > MaxBytes:
		return fmt.Errorf("pattern has %d bytes, more than %d: %.40q…", len(pattern), MaxBytes, pattern)
	case !utf8.ValidString(pattern):
		return fmt.Errorf("pattern %q is not UTF-8", pattern)
	}
	for _, r := range pattern {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return fmt.Errorf("pattern %q contains the character %q", pattern, r)
		}
	}
	return nil
}

// List is a set of patterns. A name must fit one of them. The empty list matches nothing.
type List []string

// Match reports whether name fits any pattern of the list.
func (l List) Match(name string) bool {
	for _, p := range l {
		if Match(p, name) {
			return true
		}
	}
	return false
}

// MatchesSome reports whether a pattern of the list can match a name that begins with prefix.
func (l List) MatchesSome(prefix string) bool {
	return slices.ContainsFunc(l, func(p string) bool { return MatchesSome(p, prefix) })
}

// Overlaps reports whether some name fits a pattern of the list and the given one.
func (l List) Overlaps(pattern string) bool {
	return slices.ContainsFunc(l, func(p string) bool { return Overlap(p, pattern) })
}
