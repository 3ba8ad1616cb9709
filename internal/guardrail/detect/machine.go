package detect

import (
	"math"
	"regexp/syntax"
)

// machine runs a program over a text that comes in pieces, one character at a
// time, and knows at each moment where the earliest match that may still come
// would begin. Package regexp cannot tell that, so it cannot judge a stream.
//
// It is the simulation that regexp itself falls back on (Pike's, in the order
// of preference of Perl), with one difference: where a match is found, the
// search for the next one goes on from its end at once, while threads that are
// preferred to it live on. If one of them matches later, its match holds the
// one found before, and all that began since is dropped. What the matches
// cover is therefore, at the end, just what FindAll returns; and each
// character is read once, whatever the pattern.
type machine struct {
	p    *program
	live []thread // in order of preference, so of where they began
	next []thread
	mark []uint32 // by instruction: the step in which it was last reached
	gen  uint32
	prev rune

	// nested has it find matches that begin within others too: a match ends
	// the threads that began where it did, and no others.
	nested bool

	// matched takes each match as it is found; a longer one that begins where
	// another did stands in its place.
	matched func(t thread, end, known int)
	found   *found
}

// thread is a match that may come to be: what has been read since start leads
// to the instruction pc.
type thread struct {
	pc       uint32
	group    int16 // the group that from and to are of, 0 for none yet
	start    int
	from, to int // -1 for not yet
}

func newMachine(p *program) *machine {
	m := &machine{p: p, mark: make([]uint32, len(p.insts)), prev: -1}
	m.matched = func(t thread, end, known int) { m.found.add(t.start, end, known) }
	return m
}

func (m *machine) reset() { m.live, m.prev = m.live[:0], -1 }

func (m *machine) scan(piece string, pos int, f *found) {
	m.found = f
	for _, r := range piece {
		if len(m.live) > 0 || m.p.mayBegin(r) {
			m.step(r, pos)
		} else {
			m.prev = r
		}
		pos++
	}
}

func (m *machine) end(pos int, f *found) {
	m.found = f
	m.step(-1, pos)
}

// hold implements [scanner].
func (m *machine) hold() int {
	if len(m.live) == 0 {
		return math.MaxInt
	}
	return m.live[0].start
}

// step reads the character at pos, or the end of the text as -1.
func (m *machine) step(r rune, pos int) {
	cond := syntax.EmptyOpContext(m.prev, r)
	m.prev = r
	if m.gen++; m.gen == 0 { // came round
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
	if m.p.mayBegin(r) {
		m.follow(thread{pc: m.p.start, start: pos, from: -1, to: -1}, r, cond, pos)
	}
	m.live, m.next = m.next, m.live
}

// follow takes a thread to all it can do with the character r at pos. It is
// true when it came to a match: what is preferred less is then dropped.
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

// capture notes that a group opens (an even slot) or closes at pos.
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
