package document

import (
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// InnerJSON is JSON in a string, as the arguments of a tool call are, as models write it: the
// rules read the characters it stands for, and what is taken out of it leaves
// it JSON.
//
//	raw    { "to" :  "x \n ann@example.com", "pan": 4111111111111111}
//	read   { "to" :  "x ⏎ ann@example.com", "pan": 4111111111111111}
//	sent   { "to" :  "x \n [REDACTED:email]", "pan": "[REDACTED:card]"}
//
// Each escape is one character and is taken out whole. Signs between strings
// always stay, so a stretch over several strings empties each. A number, or
// another word outside strings, of which some is taken out becomes a string.
// A text that does not begin as JSON is read and edited as it stands; one that
// turns out not to be JSON later is taken as far as it looks like it.
type InnerJSON struct {
	in, out lexer
	raw     string // read, and not given out
	read    int    // how much of raw was decoded
	mark    string // of the stretch in work, until there is a place for it

	// Of the number or word that is open:
	bare  []byte // read, and not given out
	begun bool   // some of it was given out
	gone  bool   // the rest of it is left out
}

// maxBare is how much of a number is held until it ends, in bytes: one of
// which more was sent can no longer become a string.
const maxBare = 64

// Decode takes a piece and returns the characters it stands for, but for an
// escape that may go on in the next piece; last says that there is none.
func (a *InnerJSON) Decode(piece string, last bool) string {
	a.raw += piece
	out := make([]byte, 0, len(piece))
	for a.read < len(a.raw) {
		r, size, _ := a.in.next(a.raw[a.read:], last)
		if size == 0 {
			break
		}
		out = utf8.AppendRune(out, r)
		a.read += size
	}
	return string(out)
}

// whole is Decode for a whole text.
func (a *InnerJSON) whole(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		a.raw, a.read = text, len(text)
		return text
	}
	return a.Decode(text, true)
}

// Append appends what stands for the next n bytes of the decoded text, with its
// edits made. Last says that the text ends there.
func (a *InnerJSON) Append(dst []byte, n int, edits []detect.Edit, last bool) []byte {
	for at := 0; at < n; {
		r, size, kind := a.out.next(a.raw, last)
		if size == 0 {
			break // never: it was decoded
		}
		for len(edits) > 0 && edits[0].To <= at {
			edits = edits[1:]
		}
		covered := len(edits) > 0 && edits[0].From <= at
		if !covered {
			a.mark = ""
		} else if edits[0].From == at && edits[0].Mark != "" {
			a.mark = edits[0].Mark
		}
		dst = a.put(dst, a.raw[:size], kind, covered)
		a.raw, a.read = a.raw[size:], a.read-size
		at += utf8.RuneLen(r)
	}
	if last {
		dst = a.endBare(dst)
	}
	return dst
}

// Skip passes over all that was read, of which n bytes were decoded: it was
// sent as it is.
func (a *InnerJSON) Skip(n int) {
	_ = a.Append(nil, n, nil, false)
	a.begun = a.begun || len(a.bare) > 0
	a.bare, a.raw, a.read = a.bare[:0], "", 0
}

// put appends what becomes of one character.
func (a *InnerJSON) put(dst []byte, raw string, kind lexeme, covered bool) []byte {
	if kind == bareText {
		return a.putBare(dst, raw, covered)
	}
	dst = a.endBare(dst)
	if kind == sign || !covered {
		return append(dst, raw...)
	}
	dst = append(dst, a.mark...)
	a.mark = ""
	return dst
}

func (a *InnerJSON) putBare(dst []byte, raw string, covered bool) []byte {
	switch {
	case a.gone:
	case covered && a.begun:
		dst = append(dst, '0') // which any beginning of a number may end with
		a.gone = true
	case covered && a.mark == "":
		dst = append(dst, "null"...)
		a.gone = true
	case covered:
		dst = append(append(append(dst, '"'), a.mark...), '"')
		a.gone = true
	case len(a.bare)+len(raw) > maxBare:
		dst = append(append(dst, a.bare...), raw...)
		a.bare, a.begun = a.bare[:0], true
	case a.begun:
		dst = append(dst, raw...)
	default:
		a.bare = append(a.bare, raw...)
	}
	if covered {
		a.mark = ""
	}
	return dst
}

func (a *InnerJSON) endBare(dst []byte) []byte {
	if !a.gone {
		dst = append(dst, a.bare...)
	}
	a.bare, a.begun, a.gone = a.bare[:0], false, false
	return dst
}
