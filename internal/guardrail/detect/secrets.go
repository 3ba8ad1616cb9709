package detect

import (
	"math"
	"slices"
)

const (
	// maxSecret is how many characters of a text are kept for a secret that
	// may still end: a PEM block of an RSA key of 8,192 bits has 6,400.
	maxSecret = 8192

	// lead is what an expression of the rule set may have before its keyword,
	// and what its allowlist looks at: up to 50 characters of a name.
	lead = 50

	// maxIdle is how many characters are kept while no match has begun: more
	// than what is looked at before one.
	maxIdle = 512
)

// secretScanner is the [scanner] of the rule set. A trie of all the strings
// that matches begin with runs over the text; where it finds one, the machines
// of the rules it belongs to run from there for as long as a match may come. A
// match is judged as soon as it is found, though a longer one may come that
// begins no later, for that may be lines away; and matches within one another
// are all found, or a harmless one could be wrapped around a secret.
type secretScanner struct {
	set      *secretSet
	machines []*machine // by rule, nil until needed
	running  []int      // rules
	began    []int      // by rule: where its machine was started
	seen     []bool     // by rule: one of its keywords was read
	late     []int      // rules that are sought at each character now
	name     int        // how many characters of names were read last
	tries    [][]try    // by rule: matches of the last character, which may grow
	state    int32
	text     []rune // what was read last
	base     int    // the position of text[0]
	found    *found
}

// try is a match of a rule.
type try struct {
	start, end int
	from, to   int  // what is reported of it
	secret     bool // it is one, and so is what it grows to
	grown      bool // it has grown since it was judged
}

func newSecretScanner(set *secretSet) *secretScanner {
	s := &secretScanner{
		set:      set,
		machines: make([]*machine, len(set.rules)),
		began:    make([]int, len(set.rules)),
		seen:     make([]bool, len(set.rules)),
		tries:    make([][]try, len(set.rules)),
	}
	return s
}

func (s *secretScanner) reset() {
	for _, i := range s.running {
		s.machines[i].reset()
		s.tries[i] = s.tries[i][:0]
	}
	clear(s.seen)
	s.running, s.late, s.text = s.running[:0], s.late[:0], s.text[:0]
	s.state, s.base, s.name = 0, 0, 0
}

func (s *secretScanner) scan(piece string, pos int, f *found) {
	s.found = f
	trie := s.set.trie
	for _, r := range piece {
		if n := len(s.text); n >= 2*maxIdle && len(s.running) == 0 {
			s.forget(maxIdle)
		} else if n >= 2*(maxSecret+lead) {
			s.forget(maxSecret + lead)
		}
		s.text = append(s.text, r)
		if len(s.running) > 0 {
			s.step(r, pos)
		}
		for _, i := range s.late {
			if s.set.rules[i].program.mayBegin(r) {
				s.start(i, pos, pos)
			}
		}
		if s.name++; !isNameRune(r) {
			s.name = 0
		}
		s.state = trie.step(s.state, r)
		for _, at := range trie.outs[s.state] {
			s.see(&s.set.strings[at], pos)
		}
		pos++
	}
}

// see takes a string that ends with the character at pos.
func (s *secretScanner) see(k *known, pos int) {
	first := pos + 1 - k.length
	for _, i := range k.keywords {
		if s.set.rules[i].late && !s.seen[i] {
			s.late = append(s.late, i)
			s.start(i, max(s.base, first-lead), pos)
		}
		s.seen[i] = true
	}
	for _, b := range k.begins {
		s.start(b.rule, max(s.base, first-b.back), pos)
	}
}

// end implements [scanner].
func (s *secretScanner) end(pos int, f *found) {
	s.found = f
	s.step(-1, pos)
}

// hold implements [scanner]. What stands before a secret, its name say, is not
// held, nor is what only may begin the name of one.
func (s *secretScanner) hold() int {
	least := math.MaxInt
	if depth := s.set.trie.depth[s.state]; depth > 0 {
		least = s.base + len(s.text) - int(depth)
	}
	if n := min(s.name, s.set.back); n > 0 {
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

// start runs the machine of a rule from a place at or before pos, unless it
// runs from there on already.
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
	case s.began[i] <= from:
		return
	}
	m.reset()
	s.tries[i], s.began[i] = s.tries[i][:0], from
	if from > s.base {
		m.prev = s.text[from-1-s.base]
	}
	for at := from; at <= pos; at++ {
		m.step(s.text[at-s.base], at)
		s.settle(i, at)
	}
	s.stop(n)
}

// step takes the running machines one character on.
func (s *secretScanner) step(r rune, pos int) {
	for n := len(s.running) - 1; n >= 0; n-- {
		i := s.running[n]
		s.machines[i].step(r, pos)
		s.settle(i, pos)
		s.stop(n)
	}
}

// matched takes a match of a rule. One that grows comes once for each
// character: it is judged when it is found and, if it was no secret then, when
// it has done growing.
func (s *secretScanner) matched(i int, t thread, end int) {
	m := try{start: t.start, end: end, from: t.start, to: end}
	if t.from >= 0 && t.to > t.from {
		m.from, m.to = t.from, t.to
	}
	n := slices.IndexFunc(s.tries[i], func(o try) bool { return o.start == m.start && o.from == m.from })
	if n < 0 {
		s.judge(i, &m)
		s.tries[i] = append(s.tries[i], m)
		return
	}
	last := &s.tries[i][n]
	m.secret, m.grown = last.secret, true
	*last = m
	if m.secret {
		s.report(m)
	}
}

// settle judges the matches that did not grow with the character at pos, and
// lets go of them.
func (s *secretScanner) settle(i, pos int) {
	kept := s.tries[i][:0]
	for _, t := range s.tries[i] {
		if t.end == pos {
			kept = append(kept, t)
		} else if t.grown {
			s.judge(i, &t)
		}
	}
	s.tries[i] = kept
}

// stop stops the n-th running machine when nothing more can come of it.
func (s *secretScanner) stop(n int) {
	i := s.running[n]
	if len(s.machines[i].live) > 0 {
		return
	}
	s.settle(i, -1)
	s.running = slices.Delete(s.running, n, n+1)
}

// judge reports a match if it is a secret and was none before.
func (s *secretScanner) judge(i int, t *try) {
	if t.grown = false; !t.secret && s.isSecret(&s.set.rules[i], s.seen[i], *t) {
		t.secret = true
		s.report(*t)
	}
}

func (s *secretScanner) report(t try) { s.found.add(t.from, t.to, s.base+len(s.text)) }

// isSecret tells whether a match is one by all the rule says.
func (s *secretScanner) isSecret(r *secretRule, keyword bool, m try) bool {
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
	for n := 0; n < lead && first > 0 && isLead(s.text[first-1]); n++ {
		first--
	}
	match := s.text[first : m.end-s.base]
	for _, list := range [][]allowance{s.set.allowed, r.allowed} {
		for i := range list {
			if list[i].has(secret, match) {
				return false
			}
		}
	}
	return true
}

// isLead tells whether r is of the class [\w.-], which names before a keyword
// are of.
func isLead(r rune) bool { return isNameRune(r) && r != '~' }

// forget lets go of the text before the last characters, and of the matches
// that would begin in it.
func (s *secretScanner) forget(keep int) {
	for _, i := range s.running {
		s.settle(i, -1)
	}
	n := len(s.text) - keep
	s.text = s.text[:copy(s.text, s.text[n:])]
	s.base += n
	for _, i := range s.running {
		m := s.machines[i]
		m.live = slices.DeleteFunc(m.live, func(t thread) bool { return t.start < s.base+lead })
	}
}
