package detect

import (
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWords and maxWord bound a list: how many words, and how many
	// characters one has. maxWordText bounds their sum, for each character
	// costs a row of a table.
	maxWords    = 10000
	maxWord     = 128
	maxWordText = 64 << 10
)

// wordList is a compiled list of words.
type wordList struct {
	trie    *trie
	lengths []int // by word, in characters
	longest int
	bounded [][2]bool // by word: whether it begins, and ends, with a character of words
}

func newWordList(words []string) (*wordList, error) {
	if len(words) > maxWords {
		return nil, fmt.Errorf("%d words: at most %d", len(words), maxWords)
	}
	list := &wordList{}
	text, forms := 0, make([]string, len(words))
	for i, w := range words {
		runes := squeeze(w)
		form := spell(string(runes))
		text += len(form)
		switch {
		case !utf8.ValidString(w):
			return nil, fmt.Errorf("word %d is not UTF-8", i+1)
		case len(runes) == 0 || len(runes) > maxWord:
			return nil, fmt.Errorf("word %d has %d characters: want 1 to %d", i+1, len(runes), maxWord)
		case text > maxWordText:
			return nil, fmt.Errorf("the words have more than %d characters", maxWordText)
		}
		forms[i] = string(form)
		list.lengths = append(list.lengths, len(form))
		list.longest = max(list.longest, len(form))
		list.bounded = append(list.bounded, [2]bool{inWord(form[0]), inWord(lastBase(form))})
	}
	list.trie = newTrie(forms)
	return list, nil
}

// squeeze takes white space off the ends, makes one blank of each run within,
// and leaves out what shows nothing.
func squeeze(s string) []rune {
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

// lastBase is the last character of a word but for marks behind it.
func lastBase(form []rune) rune {
	last := len(form) - 1
	for last > 0 && unicode.IsMark(form[last]) {
		last--
	}
	return form[last]
}

// spaceless are scripts that put no space between words: there a word of the
// list is found wherever it stands.
var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// asciiWords tells of ASCII characters what inWord does of all.
var asciiWords = func() (of [utf8.RuneSelf]bool) {
	for c := range rune(utf8.RuneSelf) {
		of[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
	}
	return of
}()

// inWord tells whether r is of those that make a word go on: letters, marks,
// digits and the low line.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0 && asciiWords[r]
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !unicode.In(r, spaceless...)
}

// isSpace is unicode.IsSpace, and quick.
func isSpace(r rune) bool { return (r <= ' ' || 0x85 <= r && r <= 0x3000) && unicode.IsSpace(r) }

// edge is what a character has before it.
type edge uint8

const (
	outside edge = iota // no word: any may begin here
	between             // a word: those may begin that need no boundary
	within              // another part of the same character: none may begin
)

// wordScanner is the [scanner] of a list of words. It compares them to a text
// as both are spelled; where words begin and end is said by the characters that
// stand in the text.
type wordScanner struct {
	list   *wordList
	state  int32
	at     []int  // a ring: where the last characters stood, runs of white space as one
	slot   int    // of the next
	edges  []edge // and whether words may begin with them
	before edge   // of the next
	prev   rune
	open   []hit // found, but for the character behind
}

func newWordScanner(list *wordList) *wordScanner {
	return &wordScanner{list: list, at: make([]int, list.longest), edges: make([]edge, list.longest), prev: -1}
}

func (s *wordScanner) reset() {
	s.state, s.slot, s.before, s.prev, s.open = 0, 0, outside, -1, s.open[:0]
}

func (s *wordScanner) scan(piece string, pos int, f *found) {
	for i, r := range piece {
		if mayHide(r) && unicode.Is(ignorables, r) {
			pos++
			continue
		}
		word := inWord(r)
		if len(s.open) > 0 {
			s.decide(word, pos, f)
		}
		if !composed(r) {
			s.step(r, pos, s.before)
		} else {
			s.steps(piece[i:], r, pos)
		}
		if s.before = outside; word {
			s.before = between
		}
		pos++
	}
}

// steps takes r, the first character of text, in the parts of its spelling.
func (s *wordScanner) steps(text string, r rune, pos int) {
	parts := spelling(text)
	if parts == nil {
		s.step(r, pos, s.before)
		return
	}
	for _, part := range string(parts) {
		s.open = s.open[:0] // what ends within the character
		s.step(part, pos, s.before)
		s.before = within
	}
}

func (s *wordScanner) end(pos int, f *found) { s.decide(false, pos, f) }

// decide settles what ends before the character at pos, of a word or not.
func (s *wordScanner) decide(word bool, pos int, f *found) {
	for _, h := range s.open {
		if !word || !s.list.bounded[h.rule][1] {
			f.add(h.start, h.end, pos+1)
		}
	}
	s.open = s.open[:0]
}

// step takes a character of the spelling of the one at pos.
func (s *wordScanner) step(r rune, pos int, before edge) {
	blank := isSpace(r)
	if blank && s.prev == ' ' {
		return
	}
	if blank {
		r = ' '
	}
	s.at[s.slot], s.edges[s.slot] = pos, before
	if s.slot++; s.slot == len(s.at) {
		s.slot = 0
	}
	s.prev = r
	s.state = s.list.trie.step(s.state, r)
	for _, word := range s.list.trie.outs[s.state] {
		first := s.back(s.list.lengths[word])
		if e := s.edges[first]; e == outside || e == between && !s.list.bounded[word][0] {
			s.open = append(s.open, hit{start: s.at[first], end: pos + 1, rule: int(word)})
		}
	}
}

// back is the slot of the n-th last character.
func (s *wordScanner) back(n int) int {
	if n <= s.slot {
		return s.slot - n
	}
	return s.slot - n + len(s.at)
}

func (s *wordScanner) hold() int {
	least := math.MaxInt
	if depth := s.list.trie.depth[s.state]; depth > 0 {
		least = s.at[s.back(int(depth))]
	}
	for _, h := range s.open {
		least = min(least, h.start)
	}
	return least
}
