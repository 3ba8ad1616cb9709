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
	nameLength  int           // how many of the last characters are of a name
	candidates  [][]candidate // by rule: matches that end at the last character and may grow
	state       int32         // of the trie
	text        []rune        // the last characters
	base        int           // the position of text[0]
	hits        *hitList
}

// candidate is a match of a rule.
type candidate struct {
	start, end int
	from, to   int  // the part to report
	secret     bool // it is a secret, and so is what it grows to
	grown      bool // it has grown since it was judged
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
	s.state, s.base, s.nameLength = 0, 0, 0
}

func (s *secretScanner) scan(piece string, pos int, hits *hitList) {
	s.hits = hits
	trie := s.set.trie
	for _, r := range piece {
		if n := len(s.text); n >= 2*maxIdle && len(s.running) == 0 {
			s.discard(maxIdle)
		} else if n >= 2*(maxSecret+maxPrefix) {
			s.discard(maxSecret + maxPrefix)
		}
		s.text = append(s.text, r)
		if len(s.running) > 0 {
			s.step(r, pos)
		}
		for _, i := range s.floating {
			if s.set.rules[i].program.mayBegin(r) {
				s.start(i, pos, pos)
			}
		}
		if s.nameLength++; !isNameRune(r) {
			s.nameLength = 0
		}
		s.state = trie.step(s.state, r)
		for _, at := range trie.outs[s.state] {
			s.anchorFound(&s.set.anchors[at], pos)
		}
		pos++
	}
}

// anchorFound starts the machines of the rules of an anchor that ends with the character at pos.
func (s *secretScanner) anchorFound(a *anchor, pos int) {
	first := pos + 1 - a.length
	for _, i := range a.keywords {
		if s.set.rules[i].floating && !s.keywordSeen[i] {
			s.floating = append(s.floating, i)
			s.start(i, max(s.base, first-maxPrefix), pos)
		}
		s.keywordSeen[i] = true
	}
	for _, m := range a.matches {
		s.start(m.rule, max(s.base, first-m.back), pos)
	}
}

// end implements [scanner].
func (s *secretScanner) end(pos int, hits *hitList) {
	s.hits = hits
	s.step(-1, pos)
}

// hold implements [scanner]. It holds back a partial anchor, and a possible match from the start of
// the part to report. What comes before that part, such as the name of a secret, is not held back.
func (s *secretScanner) hold() int {
	least := math.MaxInt
	if depth := s.set.trie.depth[s.state]; depth > 0 {
		least = s.base + len(s.text) - int(depth)
	}
	if n := min(s.nameLength, s.set.back); n > 0 {
		least = min(least, s.base+len(s.text)-n)
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

// start runs the machine of a rule from a position at or before pos to pos, unless it was started
// there or before.
func (s *secretScanner) start(i, from, pos int) {
	m := s.machines[i]
	if m == nil {
		m = newMachine(s.set.rules[i].program)
		m.nested = true
		m.matched = func(t thread, end, _ int) { s.matched(i, t, end) }
		s.machines[i] = m
	}
	n := slices.Index(s.running, i)
	switch {
	case n < 0:
		n = len(s.running)
		s.running = append(s.running, i)
	case s.startedAt[i] <= from:
		return
	}
	m.reset()
	s.candidates[i], s.startedAt[i] = s.candidates[i][:0], from
	if from > s.base {
		m.prev = s.text[from-1-s.base]
	}
	for at := from; at <= pos; at++ {
		m.step(s.text[at-s.base], at)
		s.settle(i, at)
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

// matched takes a match of a rule. A match that grows comes once for each character. It is judged
// when it is found and, if it was no secret then, again when it stops growing.
func (s *secretScanner) matched(i int, t thread, end int) {
	m := candidate{start: t.start, end: end, from: t.start, to: end}
	if t.from >= 0 && t.to > t.from {
		m.from, m.to = t.from, t.to
	}
	n := slices.IndexFunc(s.candidates[i], func(o candidate) bool { return o.start == m.start && o.from == m.from })
	if n < 0 {
		s.judge(i, &m)
		s.candidates[i] = append(s.candidates[i], m)
		return
	}
	last := &s.candidates[i][n]
	m.secret, m.grown = last.secret, true
	*last = m
	if m.secret {
		s.report(m)
	}
}

// settle judges and drops the candidates that did not grow with the character at pos.
func (s *secretScanner) settle(i, pos int) {
	kept := s.candidates[i][:0]
	for _, t := range s.candidates[i] {
		if t.end == pos {
			kept = append(kept, t)
		} else if t.grown {
			s.judge(i, &t)
		}
	}
	s.candidates[i] = kept
}

// stop stops the n-th running machine if it can find nothing more.
func (s *secretScanner) stop(n int) {
	i := s.running[n]
	if len(s.machines[i].live) > 0 {
		return
	}
	s.settle(i, -1)
	s.running = slices.Delete(s.running, n, n+1)
}

// judge reports a candidate that is a secret and was not one before.
func (s *secretScanner) judge(i int, c *candidate) {
	if c.grown = false; !c.secret && s.isSecret(&s.set.rules[i], s.keywordSeen[i], *c) {
		c.secret = true
		s.report(*c)
	}
}

func (s *secretScanner) report(c candidate) { s.hits.add(c.from, c.to, s.base+len(s.text)) }

// isSecret reports whether a match passes the other conditions of its rule.
func (s *secretScanner) isSecret(r *secretRule, keyword bool, m candidate) bool {
	if r.keyword && !keyword {
		return false
	}
	secret := s.text[m.from-s.base : m.to-s.base]
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return false
	}
	if len(s.set.allowed) == 0 && len(r.allowed) == 0 {
		return true
	}
	first := m.start - s.base
	for n := 0; n < maxPrefix && first > 0 && isPrefixRune(s.text[first-1]); n++ {
		first--
	}
	match := s.text[first : m.end-s.base]
	for _, list := range [][]allowlist{s.set.allowed, r.allowed} {
		for i := range list {
			if list[i].allows(secret, match) {
				return false
			}
		}
	}
	return true
}

// isPrefixRune reports whether r is in the class [\w.-], of names before a keyword.
func isPrefixRune(r rune) bool { return isNameRune(r) && r != '~' }

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
