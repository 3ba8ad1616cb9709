package detect

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// maxAheadMemory bounds what the lookaheads of a rule set keep, in bytes. Usual texts need some
// hundred kilobytes.
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
// that a [machine] could have reached, so it fails exactly where no thread of a machine is left. All
// characters outside ASCII are one class to it. It is safe for concurrent use.
type lookahead struct {
	p       *program
	memory  *aheadMemory
	prepare sync.Once
	classes [utf8.RuneSelf]uint8 // the program cannot distinguish characters of one class
	other   uint8                // the class of characters outside ASCII
	uniform bool                 // the program cannot distinguish these, except those that fold to ASCII
	width   int

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

// fails reports whether it is certain that no match begins at text[at]; at is not 0. It is false if a
// match begins there, or if that depends on what is behind limit bytes. It also returns how many
// bytes it read. If escaped is set, the text is that of a JSON string with short
// escapes, and no escape begins before at.
func (l *lookahead) fails(text string, at, limit int, escaped bool) (fails bool, n int) {
	l.prepare.Do(l.classify)
	prev := contextAfter(rune(text[at-1]))
	if escaped && endsEscape(text[:at]) {
		prev = contextAfter(shortEscapes[text[at-1]])
	}
	state := l.starts[prev].Load()
	if state == nil {
		state = l.start(prev)
	}
	text = text[at:min(len(text), at+limit)]
	for n < len(text) {
		r, size := rune(text[n]), 1
		class := l.other
		if r < utf8.RuneSelf {
			class = l.classes[r]
			if r == '\\' && escaped {
				if n+1 == len(text) {
					return false, n
				}
				r, size = shortEscapes[text[n+1]], 2
				class = l.classes[r]
			}
		} else if r, size = utf8.DecodeRuneInString(text[n:]); !l.uniform || r == 0x17f || r == 0x212a {
			return false, n
		}
		n += size
		next := state.next[class].Load()
		if next == nil {
			next = l.step(state, r, class)
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

// shortEscapes are the characters of the escapes of RFC 8259 section 7 that are one letter.
var shortEscapes = [256]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// endsEscape reports whether the last character of a JSON string belongs to a short escape.
func endsEscape(text string) bool {
	last := len(text) - 1
	return (last-len(strings.TrimRight(text[:last], `\`)))%2 == 1
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
	classOf := func(r rune) uint8 {
		key := []byte{byte(contextAfter(r))}
		for _, in := range consuming {
			if in.MatchRune(r) {
				key = append(key, 1)
			} else {
				key = append(key, 0)
			}
		}
		if _, ok := classes[string(key)]; !ok {
			classes[string(key)] = uint8(len(classes))
		}
		return classes[string(key)]
	}
	for c := range l.classes {
		l.classes[c] = classOf(rune(c))
	}
	l.other = classOf(utf8.MaxRune)
	l.uniform = !slices.ContainsFunc(consuming, distinguishesOther)
	l.width = len(classes)
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	l.states, l.marks = map[string]*aheadState{}, make([]bool, len(l.p.insts))
}

// distinguishesOther reports whether an instruction matches some characters outside ASCII and others
// not, apart from U+017F and U+212A.
func distinguishesOther(in *syntax.Inst) bool {
	for i := 0; i+1 < len(in.Rune); i += 2 {
		low, high := in.Rune[i], in.Rune[i+1]
		if high >= utf8.RuneSelf && (low > utf8.RuneSelf || high != utf8.MaxRune) && (low != high || low != 0x17f && low != 0x212a) {
			return true
		}
	}
	return len(in.Rune) == 1 && in.Rune[0] >= utf8.RuneSelf
}

// start returns the state in which a match may begin.
func (l *lookahead) start(prev context) *aheadState {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	state := l.state([]uint32{l.p.start}, prev)
	l.starts[prev].Store(state)
	return state
}

// step returns the state after a character.
func (l *lookahead) step(from *aheadState, r rune, class uint8) *aheadState {
	l.memory.mu.Lock()
	defer l.memory.mu.Unlock()
	clear(l.marks)
	next, matched := []uint32(nil), false
	cond := syntax.EmptyOpContext(samples[from.prev], r)
	for _, pc := range from.pcs {
		next, matched = l.follow(next, pc, r, cond)
		if matched {
			break
		}
	}
	state := aheadFailed
	if matched {
		state = aheadMatched
	} else if len(next) > 0 {
		slices.Sort(next)
		state = l.state(slices.Compact(next), contextAfter(r))
	}
	from.next[class].Store(state)
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

// state returns the state of a set of instructions.
func (l *lookahead) state(pcs []uint32, prev context) *aheadState {
	key := make([]byte, 0, 3*len(pcs)+1)
	for _, pc := range pcs {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16)) // at most maxProgram
	}
	key = append(key, byte(prev))
	state := l.states[string(key)]
	if state == nil {
		const fixed = 128 // of the structures themselves
		l.memory.add(fixed + 4*cap(pcs) + 8*l.width + len(key))
		state = &aheadState{pcs: pcs, prev: prev, next: make([]atomic.Pointer[aheadState], l.width)}
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
		for i := range l.starts {
			l.starts[i].Store(nil)
		}
	}
}

// newLookahead returns a lookahead that shares the memory.
func (m *aheadMemory) newLookahead(p *program) *lookahead {
	l := &lookahead{p: p, memory: m}
	m.all = append(m.all, l)
	return l
}
