package detect

import (
	"slices"
	"unicode/utf8"
)

// Edit replaces the bytes of a text from From up to To by Mark, which is empty
// for the rest of a stretch whose mark stands before.
type Edit struct {
	From, To int
	Mark     string
}

// Apply appends text with its edits made.
func Apply(dst []byte, text string, edits []Edit) []byte {
	at := 0
	for _, e := range edits {
		dst = append(dst, text[at:e.From]...)
		dst = append(dst, e.Mark...)
		at = e.To
	}
	return append(dst, text[at:]...)
}

// Find is a stretch of a text that somebody else found, in characters, the end
// not included.
type Find struct {
	Start, End int
	Rule       int // the index of the rule it is of
}

// Edits returns the edits that take finds out of a whole text.
func Edits(text string, finds []Find, rules []Rule) []Edit {
	f := new(found)
	f.reset(0)
	for _, find := range finds {
		f.rule = find.Rule
		f.add(find.Start, find.End, find.End)
	}
	return new(cover).edits(nil, text, len(text)+1, f, rules)
}

// cover turns finds into edits, in the order of the text.
type cover struct {
	covered int   // where the last stretch that got a mark ends
	char    int   // a place in the text, in characters and
	byte    int   // in bytes
	marked  []int // the rules whose marks were made, each once
}

// edits appends to dst those of the characters before to. The text is what
// begins at c.byte. Hits that begin later stay in f; of one that reaches
// further, c knows how far.
func (c *cover) edits(dst []Edit, text string, to int, f *found, rules []Rule) []Edit {
	if len(f.hits) == 0 && c.covered <= c.char {
		return dst
	}
	f.sort()
	if c.covered > c.char { // the rest of one that was begun
		from := c.byte
		c.walk(text, min(c.covered, to))
		dst = append(dst, Edit{From: from, To: c.byte})
	}
	n := 0
	for ; n < len(f.hits) && f.hits[n].start < to; n++ {
		h := f.hits[n]
		if h.end <= c.covered {
			continue
		}
		e := Edit{}
		if h.start >= c.covered {
			e.Mark = c.mark(h.rule, rules)
			c.walk(text, h.start)
		} else {
			c.walk(text, min(c.covered, to))
		}
		e.From = c.byte
		c.covered = h.end
		c.walk(text, min(h.end, to))
		e.To = c.byte
		if e.From < e.To {
			dst = append(dst, e)
		}
	}
	f.hits = f.hits[:copy(f.hits, f.hits[n:])]
	f.sorted = len(f.hits)
	return dst
}

// mark returns what stands for what a rule found, and notes that it was made.
func (c *cover) mark(rule int, rules []Rule) string {
	if !slices.Contains(c.marked, rule) {
		c.marked = append(c.marked, rule)
	}
	return rules[rule].Mark
}

// walk goes on to the character at to, or stays where it is behind it.
func (c *cover) walk(text string, to int) {
	for c.char < to && c.byte < len(text) {
		size := 1
		if text[c.byte] >= 0x80 {
			size = runeLen(text[c.byte:])
		}
		c.byte += size
		c.char++
	}
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
