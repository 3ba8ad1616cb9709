package detect

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// maxAheadMemory bounds what the lookaheads of a rule set keep, in bytes. Usual texts need
// two million.
const maxAheadMemory = 8 << 20

// aheadMemory is shared by the lookaheads of a rule set. The mutex guards what they keep, except to
// read an entry.
type aheadMemory struct {
	mu   sync.Mutex
	size int // of the states, about
	all  []*lookahead
}

// lookahead decides quickly for most places of a text that no match of a program begins there. It
// is a deterministic automaton, built as far as texts need it: a state is the set of instructions
// that a [machine] could have reached, so it fails exactly where no thread of a machine is left.
// All characters outside ASCII are one to it. It is safe for concurrent use.
type lookahead struct {
	p       *program
	memory  *aheadMemory
	uniform bool       // the program cannot distinguish characters outside ASCII, except those that fold to it
	root    aheadState // before the character before a match
	states  map[string]*aheadState
	machine *machine // makes the steps
}

// aheadState is a set of instructions before a character.
type aheadState struct {
	pcs  []uint32
	prev context
	next [utf8.RuneSelf + 1]atomic.Pointer[aheadState] // by character, nil if not known yet
}

// context is what a condition such as \b needs to know of the character before.
type context uint8

const (
	afterLine context = iota
	afterLetter
	afterOther
)

// samples are characters of each context.
var samples = [...]rune{afterLine: '\n', afterLetter: 'a', afterOther: ' '}

func contextAfter(r rune) context {
	switch {
	case r == '\n':
		return afterLine
	case r < utf8.RuneSelf && asciiWords[r]:
		return afterLetter
	}
	return afterOther
}

var (
	aheadFailed  = &aheadState{} // no match begins where the automaton started
	aheadMatched = &aheadState{} // one does
)

// fails reports whether it is certain that no match begins at text[at]; at is not 0. It is false if
// a match begins there, or if that depends on what is behind limit bytes. It also returns how many
// bytes it read. The text contains no character that folds to ASCII.
func (l *lookahead) fails(text string, at, limit int) (fails bool, n int) {
	state := &l.root
	text = text[at-1 : min(len(text), at+limit)]
	for n < len(text) {
		c, size := min(text[n], utf8.RuneSelf), 1
		if c == utf8.RuneSelf {
			if !l.uniform {
				return false, n
			}
			_, size = utf8.DecodeRuneInString(text[n:])
		}
		n += size
		next := state.next[c].Load()
		if next == nil {
			next = l.step(state, c)
		}
		switch next {
		case aheadFailed:
			return true, n
		case aheadMatched:
			return false, n
		}
		state = next
	}
	return false, n
}

// distinguishesOther reports whether an instruction matches some characters outside ASCII and
// others not, apart from U+017F and U+212A.
func distinguishesOther(in syntax.Inst) bool {
	for i := 0; i+1 < len(in.Rune); i += 2 {
		low, high := in.Rune[i], in.Rune[i+1]
		if high >= utf8.RuneSelf && (low > utf8.RuneSelf || high != utf8.MaxRune) && (low != high || low != 0x17f && low != 0x212a) {
			return true
		}
	}
	return len(in.Rune) == 1 && in.Rune[0] >= utf8.RuneSelf
}

// step returns the state after a character: c is in ASCII, or stands for all that are not.
func (l *lookahead) step(from *aheadState, c byte) *aheadState {
	r := rune(c)
	if c == utf8.RuneSelf {
		r = utf8.MaxRune
	}
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	state := aheadFailed
	if pcs, matched := l.after(from, r); matched {
		state = aheadMatched
	} else if len(pcs) > 0 {
		state = l.state(pcs, contextAfter(r))
	}
	from.next[c].Store(state)
	return state
}

// after returns the instructions that the machine reaches by a character.
func (l *lookahead) after(from *aheadState, r rune) (pcs []uint32, matched bool) {
	if from == &l.root {
		return []uint32{l.p.start}, false
	}
	m := l.machine
	m.live, m.prev = m.live[:0], samples[from.prev]
	for _, pc := range from.pcs {
		m.live = append(m.live, thread{pc: pc})
	}
	m.matched = func(thread, int, int) { matched = true }
	m.advance(r, 0)
	for _, t := range m.next {
		pcs = append(pcs, t.pc)
	}
	slices.Sort(pcs)
	return slices.Compact(pcs), matched
}

// state returns the state of a set of instructions.
func (l *lookahead) state(pcs []uint32, prev context) *aheadState {
	key := []byte{byte(prev)}
	for _, pc := range pcs {
		key = binary.LittleEndian.AppendUint16(key, uint16(pc)) // at most maxProgram
	}
	state := l.states[string(key)]
	if state == nil {
		const fixed = 128 // of the structures themselves
		l.memory.add(fixed + 4*cap(pcs) + 8*len(state.next) + len(key))
		state = &aheadState{pcs: pcs, prev: prev}
		l.states[string(key)] = state
	}
	return state
}

// add counts a new state. If there are too many, all lookaheads start over.
func (m *aheadMemory) add(size int) {
	if m.size += size; m.size <= maxAheadMemory {
		return
	}
	m.size = size
	for _, l := range m.all {
		clear(l.states)
		for i := range l.root.next {
			l.root.next[i].Store(nil)
		}
	}
}

// newLookahead returns a lookahead that shares the memory.
func (m *aheadMemory) newLookahead(p *program) *lookahead {
	l := &lookahead{p: p, memory: m, states: map[string]*aheadState{}, machine: newMachine(p)}
	l.uniform = !slices.ContainsFunc(p.insts, distinguishesOther)
	m.all = append(m.all, l)
	return l
}
