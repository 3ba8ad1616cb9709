package detect

import (
	"math"
	"slices"
)

const (
	// maxSecret is how many characters are kept of a text while a secret may still end. A PEM block
	// of an RSA key of 8,192 bits has 6,400.
	maxSecret = 8192

	// maxPrefix is how many characters of a name may come before the keyword of a rule. Allowlists
	// look at them.
	maxPrefix = 50

	// maxIdle is how many characters are kept while no match has begun: more than is looked at
	// before a match.
	maxIdle = 512

	// maxAhead is how many bytes are read ahead at an anchor: about the five lines of a command that
	// the rules for curl look at.
	maxAhead = 1 << 10

	// aheadFactor bounds how often, on average, a byte is read ahead, so that a text of anchors costs
	// in proportion to its length.
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
	piece       string        // the last piece
	read        int           // how many bytes of it are in text
	ahead       int           // how many bytes may still be read ahead in it
	text        []rune        // the last characters before that
	base        int           // the position of text[0]
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
	s.state, s.base, s.piece, s.read = 0, 0, "", 0
}

func (s *secretScanner) scan(piece string, _ int, hits *hitList) {
	s.readTo(len(s.piece))
	s.hits, s.piece, s.read, s.ahead = hits, piece, 0, aheadFactor*len(piece)
	prefixes := &s.set.prefixes
	if foldsToASCII(piece) { // an anchor may contain such letters
		prefixes, s.ahead = nil, 0
	}
	trie := s.set.trie
	for at := 0; at < len(piece); {
		at, s.state = trie.find(prefixes, piece, at, s.state)
		if s.isReading() {
			s.readTo(at)
		}
		for _, i := range trie.outs[s.state] {
			s.anchorFound(&s.set.anchors[i], at)
		}
	}
}

// isReading reports whether a machine runs or may have to begin at the next character. If not, the
// text need not be read before the next anchor.
func (s *secretScanner) isReading() bool { return len(s.running) > 0 || len(s.floating) > 0 }

// anchorFound starts the machines of the rules of an anchor that ends at an index of the piece.
func (s *secretScanner) anchorFound(a *anchor, end int) {
	for _, i := range a.keywords {
		if s.set.rules[i].floating && !s.keywordSeen[i] {
			s.readTo(end)
			s.floating = append(s.floating, i)
			s.start(i, a.length+maxPrefix)
		}
		s.keywordSeen[i] = true
	}
	for _, m := range a.matches {
		if !slices.Contains(s.running, m.rule) && s.isVain(m, end-a.length) {
			continue
		}
		s.readTo(end)
		s.start(m.rule, a.length+m.back)
	}
}

// isVain reports whether a match of a rule certainly does not begin at an index of the piece. It
// does not know if the piece is too short to say, or if too much was read ahead.
func (s *secretScanner) isVain(m matchStart, at int) bool {
	if m.back > 0 || at <= 0 {
		return false
	}
	vain, n := s.set.rules[m.rule].ahead.fails(s.piece, at, min(s.ahead, maxAhead), false)
	s.ahead -= n
	return vain
}

// readTo reads the piece up to an index.
func (s *secretScanner) readTo(end int) {
	text := s.piece[s.read:end]
	s.read = end
	for i, r := range text {
		if !s.isReading() {
			s.skip(text[i:])
			return
		}
		if n := len(s.text); n >= 2*maxIdle && len(s.running) == 0 {
			s.discard(maxIdle)
		} else if n >= 2*(maxSecret+maxPrefix) {
			s.discard(maxSecret + maxPrefix)
		}
		s.text = append(s.text, r)
		pos := s.base + len(s.text) - 1
		if len(s.running) > 0 {
			s.step(r, pos)
		}
		for _, i := range s.floating {
			if s.set.rules[i].program.mayBegin(r) {
				s.start(i, 1)
			}
		}
	}
}

// skip reads text while no machine runs. It keeps as much of it as readTo does.
func (s *secretScanner) skip(text string) {
	if len(s.text) >= 2*maxIdle {
		s.discard(maxIdle)
	}
	if n := len(s.text) + runeCount(text) - 2*maxIdle; n > 0 {
		n = (n + maxIdle - 1) / maxIdle * maxIdle // readTo discards so many at a time
		s.base += n
		kept := max(0, len(s.text)-n)
		text = text[runeIndex(text, n-(len(s.text)-kept)):]
		s.text = s.text[:copy(s.text, s.text[len(s.text)-kept:])]
	}
	for _, r := range text {
		s.text = append(s.text, r)
	}
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

// nameLength returns how many of the last characters are of a name, at most as many as may come
// before an anchor.
func (s *secretScanner) nameLength() int {
	n := 0
	for ; n < s.set.back && n < len(s.piece)-s.read; n++ {
		if !isNameRune(rune(s.piece[len(s.piece)-1-n])) {
			return n
		}
	}
	for last := len(s.text) - 1; n < s.set.back && last >= 0 && isNameRune(s.text[last]); last-- {
		n++
	}
	return n
}

// start runs the machine of a rule over the last characters of the text, unless it was started there
// or before.
func (s *secretScanner) start(i, length int) {
	m := s.machines[i]
	if m == nil {
		m = newMachine(s.set.rules[i].program)
		m.nested = true
		m.matched = func(t thread, end, _ int) { s.matched(i, t, end) }
		s.machines[i] = m
	}
	first := max(0, len(s.text)-length)
	n := slices.Index(s.running, i)
	switch {
	case n < 0:
		n = len(s.running)
		s.running = append(s.running, i)
	case s.startedAt[i] <= s.base+first:
		return
	}
	m.reset()
	s.candidates[i], s.startedAt[i] = s.candidates[i][:0], s.base+first
	if first > 0 {
		m.prev = s.text[first-1]
	}
	for at := first; at < len(s.text); at++ {
		m.step(s.text[at], s.base+at)
		s.settle(i, s.base+at)
	}
	s.stop(n)
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

// discard drops all but the last keep characters of the text, and the matches that would begin in
// what is dropped.
func (s *secretScanner) discard(keep int) {
	for _, i := range s.running {
		s.settle(i, -1)
	}
	n := len(s.text) - keep
	s.text = s.text[:copy(s.text, s.text[n:])]
	s.base += n
	for _, i := range s.running {
		m := s.machines[i]
		m.live = slices.DeleteFunc(m.live, func(t thread) bool { return t.start < s.base+maxPrefix })
	}
}
