package detect

import (
	"unicode"
	"unicode/utf8"
)

// trie finds the strings of a fixed list in a text in one pass and in any case (Aho and Corasick,
// 1975). It is a table of states by classes of characters. Characters that are in no string have
// class 0.
type trie struct {
	ascii [utf8.RuneSelf]uint16
	other map[rune]uint16
	width int       // number of classes
	next  []int32   // by state*width+class
	depth []int32   // by state: the length of its prefix
	outs  [][]int32 // by state: indexes of the strings that end here
}

// newTrie returns the trie of a list of strings.
func newTrie(list []string) *trie {
	t := &trie{other: map[rune]uint16{}, width: 1}
	for _, s := range list {
		for _, r := range s {
			r = Fold(r)
			if _, ok := t.other[r]; !ok {
				t.other[r] = uint16(t.width)
				t.width++
			}
		}
	}
	for c := range t.ascii {
		t.ascii[c] = t.other[Fold(rune(c))]
	}
	t.state(0)
	for i, s := range list {
		at, depth := int32(0), int32(0)
		for _, r := range s {
			depth++
			edge := int(at)*t.width + int(t.class(r))
			if t.next[edge] == 0 {
				child := t.state(depth) // may move next
				t.next[edge] = child
			}
			at = t.next[edge]
		}
		t.outs[at] = append(t.outs[at], int32(i))
	}
	t.link()
	return t
}

func (t *trie) state(depth int32) int32 {
	n := int32(len(t.depth))
	t.depth = append(t.depth, depth)
	t.outs = append(t.outs, nil)
	t.next = append(t.next, make([]int32, t.width)...)
	return n
}

// link fills in the transitions for characters that do not continue the prefix of a state: they
// lead to its longest suffix that is a prefix of some string. It visits states in the order of
// their depth.
func (t *trie) link() {
	fail := make([]int32, len(t.depth))
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		t.outs[at] = append(t.outs[at], t.outs[fail[at]]...)
		if at == 0 {
			t.outs[at] = nil
		}
		for class := range t.width {
			edge := int(at)*t.width + class
			back := int32(0)
			if at != 0 {
				back = t.next[int(fail[at])*t.width+class]
			}
			if child := t.next[edge]; child != 0 && t.depth[child] == t.depth[at]+1 {
				fail[child] = back
				queue = append(queue, child)
			} else {
				t.next[edge] = back
			}
		}
	}
}

func (t *trie) class(r rune) uint16 {
	if r < utf8.RuneSelf {
		return t.ascii[r]
	}
	return t.other[Fold(r)]
}

// find returns the index behind the next character of text, not before at, after which a string of
// the list ends, and the state there: the length of the text if there is none. state is the state
// at the index at.
//
// Where fewer than three characters of a possible string were read, the prefixes say where the next
// one may begin: none may begin before, and none has ended since, so the state there is 0.
func (t *trie) find(prefixes *prefixSet, text string, at int, state int32) (int, int32) {
	least := at // where the trie may stop: three characters after it started
	for at < len(text) {
		if depth := int(t.depth[state]); prefixes != nil && at >= least && depth < 3 && depth <= at && len(t.outs[state]) == 0 {
			if at = prefixes.find(text, at-depth); at == len(text) {
				return at, 0
			}
			state, least = 0, at+3
		}
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		state = t.step(state, r)
		if at += size; len(t.outs[state]) > 0 {
			break
		}
	}
	return at, state
}

// step returns the state after a character.
func (t *trie) step(state int32, r rune) int32 {
	return t.next[int(state)*t.width+int(t.class(r))]
}

// contains reports whether s contains a string of the list.
func (t *trie) contains(s string) bool {
	state := int32(0)
	for _, r := range s {
		if state = t.step(state, r); len(t.outs[state]) > 0 {
			return true
		}
	}
	return false
}

// Fold maps characters that differ only in case to one of them, by Unicode's simple case folding.
func Fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	if 0x2e80 <= r && r < 0xa640 { // Han and kana among others
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}
