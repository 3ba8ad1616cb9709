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
	literal        []byte // read, and not given out
	literalSent    bool   // some of it was given out
	literalDropped bool   // the rest of it is left out
}

// maxLiteral is how much of a number is held until it ends, in bytes: one of
// which more was sent can no longer become a string.
const maxLiteral = 64

// Decode takes a piece and returns the characters it stands for, but for an
// escape that may go on in the next piece; last says that there is none.
func (j *InnerJSON) Decode(piece string, last bool) string {
	j.raw += piece
	out := make([]byte, 0, len(piece))
	for j.read < len(j.raw) {
		r, size, _ := j.in.next(j.raw[j.read:], last)
		if size == 0 {
			break
		}
		out = utf8.AppendRune(out, r)
		j.read += size
	}
	return string(out)
}

// whole is Decode for a whole text.
func (j *InnerJSON) whole(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		j.raw, j.read = text, len(text)
		return text
	}
	return j.Decode(text, true)
}

// Append appends what stands for the next n bytes of the decoded text, with its
// edits made. Last says that the text ends there.
func (j *InnerJSON) Append(dst []byte, n int, edits []detect.Edit, last bool) []byte {
	for at := 0; at < n; {
		r, size, kind := j.out.next(j.raw, last)
		if size == 0 {
			break // never: it was decoded
		}
		for len(edits) > 0 && edits[0].To <= at {
			edits = edits[1:]
		}
		covered := len(edits) > 0 && edits[0].From <= at
		if !covered {
			j.mark = ""
		} else if edits[0].From == at && edits[0].Mark != "" {
			j.mark = edits[0].Mark
		}
		dst = j.appendChar(dst, j.raw[:size], kind, covered)
		j.raw, j.read = j.raw[size:], j.read-size
		at += utf8.RuneLen(r)
	}
	if last {
		dst = j.endLiteral(dst)
	}
	return dst
}

// Skip passes over all that was read, of which n bytes were decoded: it was
// sent as it is.
func (j *InnerJSON) Skip(n int) {
	_ = j.Append(nil, n, nil, false)
	j.literalSent = j.literalSent || len(j.literal) > 0
	j.literal, j.raw, j.read = j.literal[:0], "", 0
}

// appendChar appends what becomes of one character.
func (j *InnerJSON) appendChar(dst []byte, raw string, kind lexeme, covered bool) []byte {
	if kind == literalText {
		return j.appendLiteral(dst, raw, covered)
	}
	dst = j.endLiteral(dst)
	if kind == punctuation || !covered {
		return append(dst, raw...)
	}
	dst = append(dst, j.mark...)
	j.mark = ""
	return dst
}

func (j *InnerJSON) appendLiteral(dst []byte, raw string, covered bool) []byte {
	switch {
	case j.literalDropped:
	case covered && j.literalSent:
		dst = append(dst, '0') // which any beginning of a number may end with
		j.literalDropped = true
	case covered && j.mark == "":
		dst = append(dst, "null"...)
		j.literalDropped = true
	case covered:
		dst = append(append(append(dst, '"'), j.mark...), '"')
		j.literalDropped = true
	case len(j.literal)+len(raw) > maxLiteral:
		dst = append(append(dst, j.literal...), raw...)
		j.literal, j.literalSent = j.literal[:0], true
	case j.literalSent:
		dst = append(dst, raw...)
	default:
		j.literal = append(j.literal, raw...)
	}
	if covered {
		j.mark = ""
	}
	return dst
}

func (j *InnerJSON) endLiteral(dst []byte) []byte {
	if !j.literalDropped {
		dst = append(dst, j.literal...)
	}
	j.literal, j.literalSent, j.literalDropped = j.literal[:0], false, false
	return dst
}
