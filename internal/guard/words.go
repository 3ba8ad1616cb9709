package guard

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
	text, squeezed := 0, make([]string, len(words))
	for i, w := range words {
		runes := squeeze(w)
		text += len(runes)
		switch {
		case !utf8.ValidString(w):
			return nil, fmt.Errorf("word %d is not UTF-8", i+1)
		case len(runes) == 0 || len(runes) > maxWord:
			return nil, fmt.Errorf("word %d has %d characters: want 1 to %d", i+1, len(runes), maxWord)
		case text > maxWordText:
			return nil, fmt.Errorf("the words have more than %d characters", maxWordText)
		}
		squeezed[i] = string(runes)
		list.lengths = append(list.lengths, len(runes))
		list.longest = max(list.longest, len(runes))
		list.bounded = append(list.bounded, [2]bool{inWord(runes[0]), inWord(runes[len(runes)-1])})
	}
	list.trie = newTrie(squeezed)
	return list, nil
}

// squeeze takes white space off the ends and makes one blank of each run
// within.
func squeeze(s string) []rune {
	var out []rune
	for _, r := range s {
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

// spaceless are scripts that put no space between words: there a word of the
// list is found wherever it stands.
var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// inWord tells whether r is of those that make a word go on: letters, marks,
// digits and the low line.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)) && !unicode.In(r, spaceless...)
}

// ignorables are the characters with the property Default_Ignorable_Code_Point
// of Unicode: they show nothing, and may be put between any others.
var ignorables = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0xad, Hi: 0xad, Stride: 1},
		{Lo: 0x34f, Hi: 0x34f, Stride: 1},
		{Lo: 0x61c, Hi: 0x61c, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1},
		{Lo: 0x202a, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff0, Hi: 0xfff8, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1},
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
	},
	LatinOffset: 1,
}

// mayHide tells of most characters quickly that they are neither ignorable nor
// a form of an ASCII character in full width.
func mayHide(r rune) bool {
	return r >= 0xad && (r < 0x2070 || r >= 0xfe00 || r == 0x3164)
}

// wordScanner is the [scanner] of a list of words.
type wordScanner struct {
	list  *wordList
	state int32
	read  int    // how many characters were read, runs of white space as one
	at    []int  // a ring: where they stood
	joins []bool // and whether the one before was of a word
	prev  rune
	open  []hit // found, but for the character behind
}

func newWordScanner(list *wordList) *wordScanner {
	return &wordScanner{list: list, at: make([]int, list.longest), joins: make([]bool, list.longest), prev: -1}
}

func (s *wordScanner) reset() { s.state, s.read, s.prev, s.open = 0, 0, -1, s.open[:0] }

func (s *wordScanner) scan(piece string, pos int, f *found) {
	for _, r := range piece {
		if len(s.open) > 0 {
			s.decide(r, pos, f)
		}
		s.step(r, pos)
		pos++
	}
}

func (s *wordScanner) end(pos int, f *found) { s.decide(-1, pos, f) }

// decide settles what ends before r, the character at pos.
func (s *wordScanner) decide(r rune, pos int, f *found) {
	for _, h := range s.open {
		if r < 0 || !s.list.bounded[h.rule][1] || !inWord(r) {
			f.add(h.start, h.end, pos+1)
		}
	}
	s.open = s.open[:0]
}

func (s *wordScanner) step(r rune, pos int) {
	blank := unicode.IsSpace(r)
	if blank && s.prev == ' ' {
		return
	}
	if blank {
		r = ' '
	}
	slot := s.read % s.list.longest
	s.at[slot], s.joins[slot] = pos, s.prev >= 0 && inWord(s.prev)
	s.read++
	s.prev = r
	s.state = s.list.trie.step(s.state, r)
	for _, word := range s.list.trie.outs[s.state] {
		first := s.back(s.list.lengths[word])
		if !s.list.bounded[word][0] || !s.joins[first] {
			s.open = append(s.open, hit{start: s.at[first], end: pos + 1, rule: int(word)})
		}
	}
}

// back is the slot of the n-th last character.
func (s *wordScanner) back(n int) int { return (s.read - n) % s.list.longest }

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
