package detect

import "slices"

// candidate is a match of a rule.
type candidate struct {
	start, end int
	from, to   int  // the part to report
	secret     bool // it is a secret, and so is what it grows to
	grown      bool // it has grown since it was judged
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

func (s *secretScanner) report(c candidate) { s.hits.add(c.from, c.to, s.pos) }

// isSecret reports whether a match passes the other conditions of its rule.
func (s *secretScanner) isSecret(r *secretRule, keyword bool, m candidate) bool {
	if r.keyword && !keyword {
		return false
	}
	secret := string(s.text[s.index(m.from):s.index(m.to)])
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return false
	}
	if len(s.set.allowed) == 0 && len(r.allowed) == 0 {
		return true
	}
	first := s.index(m.start)
	for n := 0; n < maxPrefix && first > 0 && isPrefixRune(rune(s.text[first-1])); n++ {
		first--
	}
	match := string(s.text[first:s.index(m.end)])
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
