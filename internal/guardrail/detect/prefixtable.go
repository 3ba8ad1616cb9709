package detect

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	// maxTableStates bounds a prefixTable: it has 128 bytes a state.
	maxTableStates = 16

	// maxTableInsts bounds the programs that get one, because each state costs 128 steps to find.
	maxTableInsts = 128
)

// prefixTable is a deterministic automaton of how matches of a program begin: every word of a text
// may begin an address, and a table reads it several times as fast as a [machine] does. A state
// stands for the threads of a machine that all began at the same character. Where a character leads
// to anything else, the machine goes on with these threads.
type prefixTable struct {
	states [][]uint32                 // the instructions of the threads, in their order; none of the first
	next   [][utf8.RuneSelf]tableStep // by state and character
}

// tableStep is the state after a character, and whether the match began with the character.
type tableStep struct {
	state uint8
	begun bool
}

// noStep is the state of a step that the machine must make.
const noStep = 255

// newPrefixTable returns the table of a program, nil for one whose threads need more than their
// instruction: it has conditions or reports a group.
func newPrefixTable(p *program) *prefixTable {
	isCondition := func(in syntax.Inst) bool { return in.Op == syntax.InstEmptyWidth }
	if p.group != 0 || len(p.insts) > maxTableInsts || slices.ContainsFunc(p.insts, isCondition) {
		return nil
	}
	t := &prefixTable{states: [][]uint32{nil}}
	m := newMachine(p)
	found := false
	m.matched = func(thread, int, int) { found = true }
	for i := 0; i < len(t.states); i++ {
		var steps [utf8.RuneSelf]tableStep
		for c := range steps {
			m.setThreads(t.states[i], 0)
			found = false
			m.step(rune(c), 1)
			steps[c].state = noStep
			if !found {
				steps[c] = t.stepTo(m.live)
			}
		}
		t.next = append(t.next, steps)
	}
	return t
}

// stepTo returns the step that leads to threads, which began at 0 or 1. The character is at 1.
func (t *prefixTable) stepTo(threads []thread) tableStep {
	var pcs []uint32
	for _, other := range threads {
		if other.start != threads[0].start {
			return tableStep{state: noStep}
		}
		pcs = append(pcs, other.pc)
	}
	i := slices.IndexFunc(t.states, func(s []uint32) bool { return slices.Equal(s, pcs) })
	if i < 0 {
		if i = len(t.states); i == maxTableStates {
			return tableStep{state: noStep}
		}
		t.states = append(t.states, pcs)
	}
	return tableStep{uint8(i), len(pcs) > 0 && threads[0].start == 1}
}

// setThreads makes the threads at pcs, which began at start, those of the machine.
func (m *machine) setThreads(pcs []uint32, start int) {
	m.live = m.live[:0]
	for _, pc := range pcs {
		m.live = append(m.live, thread{pc: pc, start: start, from: -1, to: -1})
	}
}

// runTable reads text[at:], whose first character is at pos, by the table: up to a character that the
// machine must read, or from end on to one where no match has begun.
func (m *machine) runTable(text string, at, end, pos int) int {
	from, next := at, m.p.table.next
	for at < len(text) && text[at] < utf8.RuneSelf {
		step := next[m.state][text[at]]
		if step.state == noStep {
			break
		}
		if m.state = step.state; step.begun {
			m.start = pos + at - from
		}
		if at++; at >= end && m.state == 0 {
			break
		}
	}
	return at
}

// leaveTable makes the threads that the state of the table stands for.
func (m *machine) leaveTable() {
	if m.state > 0 {
		m.setThreads(m.p.table.states[m.state], m.start)
		m.state = 0
	}
}
