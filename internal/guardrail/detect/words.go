package detect

import (
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords is how many words a list may have, maxWord how many characters one word may have,
	// and maxWordText how many all of them together: each costs a row of a table.
	maxWords    = 10000
	maxWord     = 128
	maxWordText = 64 << 10
)

// wordList is a compiled list of words.
type wordList struct {
	trie    *trie
	lengths []int // by word, in characters
	longest int
	bounded [][2]bool // by word: whether a word boundary is needed before it, and after it
}

func newWordList(words []string) (*wordList, error) {
	if len(words) > maxWords {
		return nil, fmt.Errorf("the list has %d words, the limit is %d", len(words), maxWords)
	}
	list := &wordList{}
	text, forms := 0, make([]string, len(words))
	for i, w := range words {
		runes := normalizeSpace(w)
		form := spell(string(runes))
		text += len(form)
		switch {
		case !utf8.ValidString(w):
			return nil, fmt.Errorf("word %d is not UTF-8", i+1)
		case len(runes) == 0 || len(runes) > maxWord:
			return nil, fmt.Errorf("word %d has %d characters: want 1 to %d", i+1, len(runes), maxWord)
		case text > maxWordText:
			return nil, fmt.Errorf("the words have more than %d characters in all", maxWordText)
		}
		forms[i] = string(form)
		list.lengths = append(list.lengths, len(form))
		list.longest = max(list.longest, len(form))
		list.bounded = append(list.bounded, [2]bool{inWord(form[0]), inWord(lastBase(form))})
	}
	list.trie = newTrie(forms)
	return list, nil
}

// normalizeSpace trims white space, makes each inner run of it one blank, and drops invisible
// characters.
func normalizeSpace(s string) []rune {
	var out []rune
	for _, r := range s {
		if unicode.Is(ignorables, r) {
			continue
		}
		if unicode.IsSpace(r) {
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
			continue
		}
		out = append(out, r)
	}
	if n := len(out); n > 0 && out[n-1] == ' ' {
		out = out[:n-1]
	}
	return out
}

// lastBase returns the last character of a word that is not a combining mark.
func lastBase(form []rune) rune {
	last := len(form) - 1
	for last > 0 && unicode.IsMark(form[last]) {
		last--
	}
	return form[last]
}

// spaceless are scripts without spaces between words. Their words are found anywhere.
var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// asciiWords is inWord for ASCII characters.
var asciiWords = func() (of [utf8.RuneSelf]bool) {
	for c := range rune(utf8.RuneSelf) {
		of[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
	}
	return of
}()

// inWord reports whether r continues a word: letters, marks, digits and the underscore do.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0 && asciiWords[r]
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !unicode.In(r, spaceless...)
}

// isSpace is unicode.IsSpace, faster.
func isSpace(r rune) bool { return (r <= ' ' || 0x85 <= r && r <= 0x3000) && unicode.IsSpace(r) }

// edge says what comes before a character.
type edge uint8

const (
	afterNonWord edge = iota // any word may begin here
	afterWord                // only words that need no boundary may begin here
	insideChar               // a part of the same character: no word may begin here
)

// wordScanner is the [scanner] of a list of words. It compares the decomposed spellings of words
// and text. Word boundaries are decided by the characters of the text itself.
type wordScanner struct {
	list      *wordList
	state     int32
	positions []int  // ring buffer: positions of the last characters, a run of white space as one
	slot      int    // next index of both ring buffers
	edges     []edge // ring buffer: whether words may begin with them
	before    edge   // of the next character
	prev      rune
	pending   []Hit // they count if a word boundary follows
}

func newWordScanner(list *wordList) *wordScanner {
	return &wordScanner{list: list, positions: make([]int, list.longest), edges: make([]edge, list.longest), prev: -1}
}

func (s *wordScanner) reset() {
	s.state, s.slot, s.before, s.prev, s.pending = 0, 0, afterNonWord, -1, s.pending[:0]
}

func (s *wordScanner) scan(piece string, pos int, hits *hitList) {
	for i, r := range piece {
		if mayBeHidden(r) && unicode.Is(ignorables, r) {
			pos++
			continue
		}
		word := inWord(r)
		if len(s.pending) > 0 {
			s.decide(word, pos, hits)
		}
		if !mayDecompose(r) {
			s.step(r, pos, s.before)
		} else {
			s.steps(piece[i:], r, pos)
		}
		if s.before = afterNonWord; word {
			s.before = afterWord
		}
		pos++
	}
}

// steps reads the parts of the spelling of r, the first character of text.
func (s *wordScanner) steps(text string, r rune, pos int) {
	parts := spelling(text)
	if parts == nil {
		s.step(r, pos, s.before)
		return
	}
	for _, part := range string(parts) {
		s.pending = s.pending[:0] // a word that ends inside the character
		s.step(part, pos, s.before)
		s.before = insideChar
	}
}

func (s *wordScanner) end(pos int, hits *hitList) { s.decide(false, pos, hits) }

// decide reports the pending hits, now that the character at pos after them is known. word says
// whether it continues a word.
func (s *wordScanner) decide(word bool, pos int, hits *hitList) {
	for _, h := range s.pending {
		if !word || !s.list.bounded[h.Rule][1] {
			hits.add(h.Start, h.End, pos+1)
		}
	}
	s.pending = s.pending[:0]
}

// step reads a character of the spelling of the one at pos.
func (s *wordScanner) step(r rune, pos int, before edge) {
	blank := isSpace(r)
	if blank && s.prev == ' ' {
		return
	}
	if blank {
		r = ' '
	}
	s.positions[s.slot], s.edges[s.slot] = pos, before
	if s.slot++; s.slot == len(s.positions) {
		s.slot = 0
	}
	s.prev = r
	s.state = s.list.trie.step(s.state, r)
	for _, word := range s.list.trie.outs[s.state] {
		first := s.back(s.list.lengths[word])
		if e := s.edges[first]; e == afterNonWord || e == afterWord && !s.list.bounded[word][0] {
			s.pending = append(s.pending, Hit{Start: s.positions[first], End: pos + 1, Rule: int(word)})
		}
	}
}

// back returns the index of the n-th last character in the ring buffers.
func (s *wordScanner) back(n int) int {
	if n <= s.slot {
		return s.slot - n
	}
	return s.slot - n + len(s.positions)
}

func (s *wordScanner) hold(int) int {
	least := math.MaxInt
	if depth := s.list.trie.depth[s.state]; depth > 0 {
		least = s.positions[s.back(int(depth))]
	}
	for _, h := range s.pending {
		least = min(least, h.Start)
	}
	return least
}
