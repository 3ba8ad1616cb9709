package detect

import (
	"math"
	"regexp/syntax"
	"unicode/utf8"
)

// maxWaiting is how many bytes of a text wait for the sign of a program. More are read without it.
const maxWaiting = 512

// machine runs a program over a text that comes in pieces, one character at a time. It always knows
// where the earliest match that may still come would begin. Package regexp cannot report that. With
// a second expression, of all beginnings of matches, it finds and holds back the same in a stream,
// but reads what is held again with each piece: that took 2 to 80 times as long. For secrets it
// also does not know where the group to report begins in each possible match.
//
// It is the simulation that regexp itself falls back on (Pike's, with Perl's order of preference),
// with one difference. Once a match is found, the search for the next one begins at its end, while
// threads that are preferred to it go on. If one of them matches later, its match contains the one
// found before, and everything that began since is dropped. So at the end the matches cover exactly
// what FindAll returns, and each character is read once, whatever the pattern.
type machine struct {
	p    *program
	live []thread // in order of preference, hence of their starts
	next []thread
	mark []uint32 // by instruction: the step in which it was last reached
	gen  uint32
	prev rune

	// While live is empty: the end of the text that is in ASCII and begins a match if the sign of
	// the program comes, and its position.
	word   string
	wordAt int

	// nested makes it also find matches that begin within others. A match then ends only the
	// threads that began where it did.
	nested bool

	// matched is called with each match. A longer one with the same start replaces it.
	matched func(t thread, end, known int)
	hits    *hitList
}

// thread is a possible match: the text since start leads to the instruction pc.
type thread struct {
	pc       uint32
	group    int16 // the group of from and to, 0 for none yet
	start    int
	from, to int // -1 for not yet
}

func newMachine(p *program) *machine {
	m := &machine{p: p, mark: make([]uint32, len(p.insts)), prev: -1}
	m.matched = func(t thread, end, known int) { m.hits.add(t.start, end, known) }
	return m
}

func (m *machine) reset() { m.live, m.prev, m.word = m.live[:0], -1, "" }

func (m *machine) scan(piece string, pos int, hits *hitList) {
	m.hits = hits
	if len(piece) > maxWaiting { // too long to copy
		for i, r := range m.word {
			m.step(r, m.wordAt+i)
		}
	} else if m.word != "" {
		piece, pos = m.word+piece, m.wordAt
	}
	m.word = ""
	for at, end := 0, 0; at < len(piece); {
		if at >= end && len(m.live) == 0 {
			var from int
			if from, end = m.p.skip(piece, at); from > at {
				m.prev, _ = utf8.DecodeLastRuneInString(piece[at:from])
				pos += runeCount(piece[at:from])
				at = from
			}
			if m.p.sign != 0 && end == len(piece) && end-at <= maxWaiting {
				m.word, m.wordAt = piece[at:], pos
				return
			}
			if at == len(piece) {
				return
			}
		}
		r, size := rune(piece[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(piece[at:])
		}
		if len(m.live) > 0 || m.p.mayBegin(r) {
			m.step(r, pos)
		} else {
			m.prev = r
		}
		at += size
		pos++
	}
}

func (m *machine) end(pos int, hits *hitList) {
	m.hits = hits
	m.step(-1, pos)
}

// hold implements [scanner].
func (m *machine) hold(int) int {
	if m.word != "" {
		return m.wordAt
	}
	if len(m.live) == 0 {
		return math.MaxInt
	}
	return m.live[0].start
}

// step reads the character at pos, or the end of the text as -1.
func (m *machine) step(r rune, pos int) {
	cond := m.advance(r, pos)
	if m.p.mayBegin(r) {
		m.follow(thread{pc: m.p.start, start: pos, from: -1, to: -1}, r, cond, pos)
	}
	m.live, m.next = m.next, m.live
}

// advance makes the next threads of the live ones. The conditions are those before the character.
func (m *machine) advance(r rune, pos int) (cond syntax.EmptyOp) {
	cond = syntax.EmptyOpContext(m.prev, r)
	m.prev = r
	if m.gen++; m.gen == 0 { // wrapped around
		clear(m.mark)
		m.gen = 1
	}
	m.next = m.next[:0]
	done := -1
	for _, t := range m.live {
		if t.start == done || !m.follow(t, r, cond, pos) {
			continue
		}
		if done = t.start; !m.nested {
			break
		}
	}
	return cond
}

// follow runs a thread up to the instructions that consume the character r at pos. It returns true
// if that reaches a match: threads of lower preference are then dropped.
func (m *machine) follow(t thread, r rune, cond syntax.EmptyOp, pos int) bool {
	for m.mark[t.pc] != m.gen {
		m.mark[t.pc] = m.gen
		in := &m.p.insts[t.pc]
		t.pc = in.Out
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			if m.follow(t, r, cond, pos) {
				return true
			}
			t.pc = in.Arg
		case syntax.InstNop:
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^cond != 0 {
				return false
			}
		case syntax.InstCapture:
			t.capture(int(in.Arg), m.p.group, pos)
		case syntax.InstMatch:
			m.matched(t, pos, pos+1)
			return true
		case syntax.InstRune1:
			if r == in.Rune[0] || r >= 0 && in.MatchRune(r) {
				m.next = append(m.next, t)
			}
			return false
		case syntax.InstRune, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 && in.MatchRune(r) {
				m.next = append(m.next, t)
			}
			return false
		default:
			return false
		}
	}
	return false
}

// capture records that a group opens (even slot) or closes (odd slot) at pos.
func (t *thread) capture(slot, want, pos int) {
	group := int16(slot / 2)
	if group == 0 || want == 0 || want > 0 && int(group) != want {
		return
	}
	if slot%2 == 0 && (t.group == 0 || t.group == group) {
		t.group, t.from, t.to = group, pos, -1
	} else if t.group == group {
		t.to = pos
	}
}
