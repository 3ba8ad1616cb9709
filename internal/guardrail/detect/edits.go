package detect

import (
	"slices"
	"unicode/utf8"
)

// Edit replaces the bytes of a text from From to To, exclusive, by Mark. Mark is empty if the hit
// began before and its mark was written there.
type Edit struct {
	From, To int
	Mark     string
}

// Apply appends text to dst with the edits made.
func Apply(dst []byte, text string, edits []Edit) []byte {
	at := 0
	for _, e := range edits {
		dst = append(dst, text[at:e.From]...)
		dst = append(dst, e.Mark...)
		at = e.To
	}
	return append(dst, text[at:]...)
}

// Edits returns the edits that take hits, in any order, out of a whole text. Of the rules it needs
// the marks only.
func Edits(text string, hits []Hit, rules []Rule) []Edit {
	list := new(hitList)
	list.reset(0)
	for _, h := range hits {
		list.rule = h.Rule
		list.add(h.Start, h.End, h.End)
	}
	return new(redactor).edits(nil, text, len(text)+1, list, rules)
}

// redactor turns hits into edits, in the order of the text.
type redactor struct {
	covered int   // end of the last hit that got a mark, in characters
	char    int   // current position in the text, in characters
	byte    int   // and in bytes
	marked  []int // rules whose marks were written, each once
}

// edits appends to dst the edits of the characters before position to; r.byte is an index in text.
// Hits that begin later stay in the list. If a hit ends later, r.covered says where.
func (r *redactor) edits(dst []Edit, text string, to int, list *hitList, rules []Rule) []Edit {
	if len(list.hits) == 0 && r.covered <= r.char {
		return dst
	}
	list.sort()
	if r.covered > r.char { // the rest of a hit whose mark was written before
		from := r.byte
		r.advance(text, min(r.covered, to))
		dst = append(dst, Edit{From: from, To: r.byte})
	}
	n := 0
	for ; n < len(list.hits) && list.hits[n].Start < to; n++ {
		h := list.hits[n]
		if h.End <= r.covered {
			continue
		}
		e := Edit{}
		if h.Start >= r.covered {
			e.Mark = r.mark(h.Rule, rules)
			r.advance(text, h.Start)
		} else {
			r.advance(text, min(r.covered, to))
		}
		e.From = r.byte
		r.covered = h.End
		r.advance(text, min(h.End, to))
		e.To = r.byte
		if e.From < e.To {
			dst = append(dst, e)
		}
	}
	list.hits = list.hits[:copy(list.hits, list.hits[n:])]
	list.sorted = len(list.hits)
	return dst
}

// mark returns the mark of a rule and records that it was written.
func (r *redactor) mark(rule int, rules []Rule) string {
	if !slices.Contains(r.marked, rule) {
		r.marked = append(r.marked, rule)
	}
	return rules[rule].Mark
}

// advance moves to the character at position to, unless it is there or further already.
func (r *redactor) advance(text string, to int) {
	for r.char < to && r.byte < len(text) {
		size := 1
		if text[r.byte] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(text[r.byte:])
		}
		r.byte += size
		r.char++
	}
}
