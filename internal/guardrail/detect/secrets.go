package detect

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxSecret is how many characters a secret may have at least: a PEM block of an RSA key of
	// 8,192 bits has 6,400. Some are found that are longer, at most twice as long.
	maxSecret = 8192

	// maxPrefix is how many characters of a name may come before the keyword of a rule. Allowlists
	// look at them.
	maxPrefix = 50

	// maxName is how many of the last characters are held back if they are of a name: a secret may
	// end in its keyword, and the longest that does has 40 characters.
	maxName = 40

	// maxIdle is how many bytes are kept while no match has begun: more than is looked at before a
	// match.
	maxIdle = 1 << 10

	// maxAhead is how many bytes are read ahead at an anchor: about the five lines of a command
	// that the rules for curl look at.
	maxAhead = 1 << 10

	// aheadFactor bounds how often, on average, a byte is read ahead, so that a text of anchors
	// costs in proportion to its length.
	aheadFactor = 8
)

// secretScanner is the [scanner] of the rule set. A trie of the anchors of all rules runs over the
// text. Where it finds one, the machines of its rules run from there as long as a match may come.
//
// A match is judged as soon as it is found, although a longer one with the same start may follow:
// that one may end many lines later. Matches within others are found too, or a harmless match could
// hide the secret in it.
type secretScanner struct {
	set         *secretSet
	machines    []*machine    // by rule, nil until needed
	running     []int         // rules whose machines run
	startedAt   []int         // by rule: the position where its machine was started
	keywordSeen []bool        // by rule: whether one of its keywords was read
	floating    []int         // rules whose matches may begin at every character now
	candidates  [][]candidate // by rule: matches that end at the last character and may grow
	state       int32         // of the trie
	ahead       int           // how many bytes of the piece may still be read ahead
	text        []byte        // the last characters
	pos         int           // how many were read
	hits        *hitList
}

func newSecretScanner(set *secretSet) *secretScanner {
	return &secretScanner{
		set:         set,
		machines:    make([]*machine, len(set.rules)),
		startedAt:   make([]int, len(set.rules)),
		keywordSeen: make([]bool, len(set.rules)),
		candidates:  make([][]candidate, len(set.rules)),
	}
}

func (s *secretScanner) reset() {
	for _, i := range s.running {
		s.machines[i].reset()
		s.candidates[i] = s.candidates[i][:0]
	}
	clear(s.keywordSeen)
	s.running, s.floating, s.text = s.running[:0], s.floating[:0], s.text[:0]
	s.state, s.pos = 0, 0
}

func (s *secretScanner) scan(piece string, _ int, hits *hitList) {
	s.hits, s.ahead = hits, aheadFactor*len(piece)
	prefixes := &s.set.prefixes
	if foldsToASCII(piece) { // an anchor may contain such letters
		prefixes, s.ahead = nil, 0
	}
	trie := s.set.trie
	for at := 0; at < len(piece); {
		read := at
		at, s.state = trie.find(prefixes, piece, at, s.state)
		s.read(piece[read:at])
		for _, i := range trie.outs[s.state] {
			s.anchorFound(&s.set.anchors[i], piece, at)
		}
	}
}

// foldsToASCII reports whether a text contains the letters outside ASCII that are equal to s and k
// where case is ignored.
func foldsToASCII(text string) bool {
	return strings.Contains(text, "\u017f") || strings.Contains(text, "\u212a")
}

// anchorFound starts the machines of the rules of an anchor that ends at an index of the piece.
func (s *secretScanner) anchorFound(a *anchor, piece string, end int) {
	for _, i := range a.keywords {
		if s.set.rules[i].floating && !s.keywordSeen[i] {
			s.floating = append(s.floating, i)
			s.start(i, a.length+maxPrefix)
		}
		s.keywordSeen[i] = true
	}
	for _, i := range a.begins {
		if slices.Contains(s.running, i) || !s.cannotMatch(i, piece, end-a.length) {
			s.start(i, a.length)
		}
	}
}

// cannotMatch reports whether a match of a rule certainly does not begin at an index of the piece.
// It does not know if the piece is too short to say, or if too much was read ahead.
func (s *secretScanner) cannotMatch(i int, piece string, at int) bool {
	if at <= 0 {
		return false
	}
	fails, n := s.set.rules[i].ahead.fails(piece, at, min(max(0, s.ahead), maxAhead))
	s.ahead -= n
	return fails
}

// read reads the next characters.
func (s *secretScanner) read(text string) {
	for i, r := range text {
		if len(s.running)+len(s.floating) == 0 {
			s.skip(text[i:])
			return
		}
		s.text = utf8.AppendRune(s.text, r)
		s.pos++
		s.step(r, s.pos-1)
		if s.pos%maxSecret == 0 {
			s.drop(s.pos - maxSecret)
		}
		for _, i := range s.floating {
			if s.set.rules[i].program.mayBegin(r) {
				s.start(i, 1)
			}
		}
	}
}

// skip reads characters while no match may begin.
func (s *secretScanner) skip(text string) {
	s.pos += runeCount(text)
	text = text[max(0, len(text)-maxIdle):]
	if len(s.text)+len(text) >= 2*maxIdle {
		s.text = s.text[:copy(s.text, s.text[max(0, len(s.text)-maxIdle):])]
	}
	s.text = append(s.text, text...)
}

// end implements [scanner].
func (s *secretScanner) end(pos int, hits *hitList) {
	s.hits = hits
	s.step(-1, pos)
}

// hold implements [scanner]. It holds back a partial anchor, and a possible match from the start of
// the part to report. What comes before that part, such as the name of a secret, is not held back.
func (s *secretScanner) hold(pos int) int {
	least := math.MaxInt
	if depth := s.set.trie.depth[s.state]; depth > 0 {
		least = pos - int(depth)
	}
	if n := s.nameLength(); n > 0 {
		least = min(least, pos-n)
	}
	for _, i := range s.running {
		for _, t := range s.machines[i].live {
			if s.set.rules[i].program.group == 0 {
				least = min(least, t.start)
			} else if t.from >= 0 {
				least = min(least, t.from)
			}
		}
	}
	return least
}

// nameLength returns how many of the last characters are of a name, at most maxName.
func (s *secretScanner) nameLength() (n int) {
	for n < min(maxName, len(s.text)) && isNameRune(rune(s.text[len(s.text)-1-n])) {
		n++
	}
	return n
}

// isNameRune reports whether r is in the class [\w.~-].
func isNameRune(r rune) bool {
	return r < 128 && inWord(r) || r == '.' || r == '-' || r == '~'
}

// start runs the machine of a rule over the last characters of the text, unless it was started
// there or before.
func (s *secretScanner) start(i, length int) {
	m := s.machines[i]
	if m == nil {
		m = newMachine(s.set.rules[i].program)
		m.nested = true
		m.matched = func(t thread, end, _ int) { s.matched(i, t, end) }
		s.machines[i] = m
	}
	first := max(0, s.pos-length)
	n := slices.Index(s.running, i)
	switch {
	case n < 0:
		n = len(s.running)
		s.running = append(s.running, i)
	case s.startedAt[i] <= first:
		return
	}
	m.reset()
	s.candidates[i], s.startedAt[i] = s.candidates[i][:0], first
	at := s.index(first)
	if first > 0 {
		m.prev, _ = utf8.DecodeLastRune(s.text[:at])
	}
	for pos := first; pos < s.pos; pos++ {
		r, size := utf8.DecodeRune(s.text[at:])
		m.step(r, pos)
		s.settle(i, pos)
		at += size
	}
	s.stop(n)
}

// index returns the index in the text of the character at a position.
func (s *secretScanner) index(pos int) int {
	at := len(s.text)
	for ; pos < s.pos; pos++ {
		_, size := utf8.DecodeLastRune(s.text[:at])
		at -= size
	}
	return at
}

// step feeds a character to the running machines.
func (s *secretScanner) step(r rune, pos int) {
	for n := len(s.running) - 1; n >= 0; n-- {
		i := s.running[n]
		s.machines[i].step(r, pos)
		s.settle(i, pos)
		s.stop(n)
	}
}

// drop ends the matches that began before a position, and forgets their text.
func (s *secretScanner) drop(pos int) {
	for n := len(s.running) - 1; n >= 0; n-- {
		i := s.running[n]
		s.settle(i, -1)
		m := s.machines[i]
		m.live = slices.DeleteFunc(m.live, func(t thread) bool { return t.start < pos })
		s.stop(n)
	}
	s.text = s.text[:copy(s.text, s.text[s.index(max(0, pos-maxPrefix)):])]
}
