package detect

import (
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

const (
	// maxAhead is how many bytes a lookahead reads. Most places fail within thirty, and each byte
	// of a text may be read once for each place before it.
	maxAhead = 128

	// maxAheadStates is how many states a lookahead keeps. A usual text needs a few dozen of a rule,
	// each of about a kilobyte.
	maxAheadStates = 256
)

// lookahead decides quickly for most places of a text that no match of a program begins there. It
// is a deterministic automaton, built as far as texts need it: a state is the set of instructions
// that a [machine] could have reached, so it fails exactly where no thread of a machine is left. It
// knows ASCII only. It is safe for concurrent use.
type lookahead struct {
	p       *program
	prepare sync.Once
	classes [utf8.RuneSelf]uint8 // the program cannot distinguish characters of one class
	width   int

	mu     sync.Mutex // for what follows, except to read an entry
	starts [4]atomic.Pointer[aheadState]
	states map[string]*aheadState
	marks  []bool // by instruction: it was reached in this step
}

// aheadState is a set of instructions before a character.
type aheadState struct {
	pcs  []uint32
	prev context
	next []atomic.Pointer[aheadState] // by class, nil if not known yet
}

// context is what a condition such as \b needs to know of the character before.
type context uint8

const (
	atBegin context = iota
	afterLine
	afterLetter
	afterOther
)

// samples are characters of each context.
var samples = [...]rune{atBegin: -1, afterLine: '\n', afterLetter: 'a', afterOther: ' '}

func contextAfter(c byte) context {
	switch {
	case c == '\n':
		return afterLine
	case c < utf8.RuneSelf && asciiWords[c]:
		return afterLetter
	}
	return afterOther
}

var (
	aheadFailed  = &aheadState{} // no match begins where the automaton started
	aheadMatched = &aheadState{} // one does
)

// fails reports whether no match certainly begins at an index of a text, which is not the first. It
// is false if a match begins there, and if that would depend on more text, on a character outside
// ASCII or on too many characters.
func (l *lookahead) fails(text string, at int) bool {
	l.prepare.Do(l.classify)
	prev := contextAfter(text[at-1])
	state := l.starts[prev].Load()
	if state == nil {
		state = l.start(prev)
	}
	for end := min(len(text), at+maxAhead); at < end; at++ {
		c := text[at]
		if c >= utf8.RuneSelf {
			return false
		}
		next := state.next[l.classes[c]].Load()
		if next == nil {
			next = l.step(state, c)
		}
		switch next {
		case aheadFailed:
			return true
		case aheadMatched:
			return false
		}
		state = next
	}
	return false
}

// classify finds the classes of characters.
func (l *lookahead) classify() {
	var consuming []*syntax.Inst
	seen := map[string]bool{}
	for i := range l.p.insts {
		in := &l.p.insts[i]
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			key := string(append(slices.Clone(in.Rune), rune(in.Arg)))
			if !seen[key] {
				seen[key] = true
				consuming = append(consuming, in)
			}
		}
	}
	classes := map[string]uint8{}
	for c := range l.classes {
		key := []byte{byte(contextAfter(byte(c)))}
		for _, in := range consuming {
			if in.MatchRune(rune(c)) {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		class, ok := classes[string(key)]
		if !ok {
			class = uint8(len(classes))
			classes[string(key)] = class
		}
		l.classes[c] = class
	}
	l.width = len(classes)
	l.states, l.marks = map[string]*aheadState{}, make([]bool, len(l.p.insts))
}

// start returns the state in which a match may begin.
func (l *lookahead) start(prev context) *aheadState {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state([]uint32{l.p.start}, prev)
	l.starts[prev].Store(state)
	return state
}

// step returns the state after a character.
func (l *lookahead) step(from *aheadState, c byte) *aheadState {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.marks)
	next, matched := []uint32(nil), false
	cond := syntax.EmptyOpContext(samples[from.prev], rune(c))
	for _, pc := range from.pcs {
		next, matched = l.follow(next, pc, rune(c), cond)
		if matched {
			break
		}
	}
	state := aheadFailed
	if matched {
		state = aheadMatched
	} else if len(next) > 0 {
		slices.Sort(next)
		state = l.state(slices.Compact(next), contextAfter(c))
	}
	from.next[l.classes[c]].Store(state)
	return state
}

// follow appends to next where the instructions lead that consume a character and are reached from
// pc. It is machine.follow without threads.
func (l *lookahead) follow(next []uint32, pc uint32, r rune, cond syntax.EmptyOp) (_ []uint32, matched bool) {
	for !l.marks[pc] {
		l.marks[pc] = true
		in := &l.p.insts[pc]
		pc = in.Out
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			if next, matched = l.follow(next, pc, r, cond); matched {
				return next, true
			}
			pc = in.Arg
		case syntax.InstNop, syntax.InstCapture:
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^cond != 0 {
				return next, false
			}
		case syntax.InstMatch:
			return next, true
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if in.MatchRune(r) {
				next = append(next, pc)
			}
			return next, false
		default:
			return next, false
		}
	}
	return next, false
}

// state returns the state of a set of instructions. When there are too many states, it begins anew.
func (l *lookahead) state(pcs []uint32, prev context) *aheadState {
	key := make([]byte, 0, 4*len(pcs)+1)
	for _, pc := range pcs {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16))
	}
	key = append(key, byte(prev))
	state := l.states[string(key)]
	if state == nil {
		if len(l.states) >= maxAheadStates {
			clear(l.states)
			for i := range l.starts {
				l.starts[i].Store(nil)
			}
		}
		state = &aheadState{pcs: pcs, prev: prev, next: make([]atomic.Pointer[aheadState], l.width)}
		l.states[string(key)] = state
	}
	return state
}
