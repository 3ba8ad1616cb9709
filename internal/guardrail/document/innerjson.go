package document

import (
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// InnerJSON reads and edits JSON that is the value of a string, as the arguments of tool calls are.
// Rules read its characters as decoded, and what is left after an edit is still JSON:
//
//	raw    { "to" :  "x \n ann@example.com", "pan": 4111111111111111}
//	read   { "to" :  "x ⏎ ann@example.com", "pan": 4111111111111111}
//	sent   { "to" :  "x \n [REDACTED:email]", "pan": "[REDACTED:card]"}
//
// Each escape is one character and is removed whole. Punctuation between strings always stays, so a
// hit across several strings empties each of them. A number, true, false or null becomes a string
// when a part of it is taken out. A text that does not begin as JSON is read and edited as it is.
// If a text turns out not to be JSON later, it is handled as far as it looks like JSON.
type InnerJSON struct {
	in, out lexer
	raw     string // read, not yet written
	read    int    // decoded bytes of raw
	mark    string // of the current edit, until it was written

	// The current number, true, false or null:
	literal        []byte // read, not yet written
	literalSent    bool   // a part of it was written
	literalDropped bool   // the rest of it is dropped
}

// maxLiteral is how many bytes of a number are held back until it ends. If more of it was sent, it
// can no longer become a string.
const maxLiteral = 64

// Decode returns the decoded characters of the next piece. An escape at its end that may continue
// in the next piece is kept back, unless last says that there is none.
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

// Append appends to dst the JSON of the next n bytes of the decoded text, with the edits made. last
// says that the text ends there.
func (j *InnerJSON) Append(dst []byte, n int, edits []detect.Edit, last bool) []byte {
	for at := 0; at < n; {
		r, size, kind := j.out.next(j.raw, last)
		if size == 0 {
			break // cannot happen: it was decoded
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

// Skip drops all that was read, of which n bytes were decoded. The caller has sent it unchanged.
func (j *InnerJSON) Skip(n int) {
	_ = j.Append(nil, n, nil, false)
	j.literalSent = j.literalSent || len(j.literal) > 0
	j.literal, j.raw, j.read = j.literal[:0], "", 0
}

// appendChar appends one character, or the mark of the edit that covers it.
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
		dst = append(dst, '0') // a number may end with it after any beginning
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

// editJSON returns JSON with edits that count its bytes as they are, not as decoded. It stays JSON.
func editJSON(raw string, edits []detect.Edit) []byte {
	var scan lexer
	at, plain := 0, 0 // in raw, and as decoded
	to := func(offset int, whole bool) int {
		for at < offset {
			r, size, _ := scan.next(raw[at:], true)
			if at+size > offset && !whole {
				break // inside an escape
			}
			at, plain = at+size, plain+utf8.RuneLen(r)
		}
		return plain
	}
	var decoded []detect.Edit
	for _, e := range edits {
		d := detect.Edit{From: to(e.From, false), To: to(e.To, true), Mark: e.Mark}
		if d.From < d.To {
			decoded = append(decoded, d)
		}
	}
	var inner InnerJSON
	return inner.Append(nil, len(inner.whole(raw)), decoded, true)
}
