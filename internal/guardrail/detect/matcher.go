package detect

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"unicode/utf8"
)

const (
	// MaxFinds is how much is taken out of one text: more stretches than that
	// are in no text of a million tokens, and each costs memory.
	MaxFinds = 1 << 17

	// blockSize is how many bytes of a whole text are scanned at a time: what
	// is found in it is settled before the next, so that finds do not pile up.
	blockSize = 64 << 10

	// maxKept bounds the lists that a matcher keeps for the next body.
	maxKept = 1 << 10
)

// The errors of [Matcher.Whole].
var (
	ErrDenied       = errors.New("a rule denies the text")
	ErrTooManyFinds = errors.New("too many finds in one text")
	ErrStopped      = errors.New("nobody wants the answer any more")
)

// longTexts has room for the blocks of long texts that are read at a time. They
// leave half of the processors to the short ones, and take turns with one
// another.
var longTexts = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// Matcher reads one text at a time by the detectors of a list of rules.
type Matcher struct {
	rules    []Rule
	scanners []scanner
	idle     []bool // which need not read the text
	found    found
	cover    cover
	pos      int // how many characters were read
	list     []Edit
}

// NewMatcher returns a matcher for the texts that [Matcher.Whole] is given, or
// for one text in pieces: of that, no character is held for longer than window
// more characters, 0 for ever.
func NewMatcher(rules []Rule, window int) *Matcher {
	m := &Matcher{rules: rules, scanners: make([]scanner, len(rules)), idle: make([]bool, len(rules))}
	for i := range rules {
		m.scanners[i] = rules[i].Detector.new()
	}
	m.reset(window)
	return m
}

func (m *Matcher) reset(window int) {
	for i, s := range m.scanners {
		s.reset()
		m.idle[i] = false
	}
	m.found.reset(window)
	m.cover, m.pos = cover{marked: m.cover.marked}, 0
}

// Release makes the matcher ready to wait for another body.
func (m *Matcher) Release() {
	m.cover.marked = m.cover.marked[:0]
	if cap(m.list) > maxKept || cap(m.found.hits) > maxKept {
		m.list, m.found.hits = nil, nil
	}
}

// Scan reads a piece of the text, cut between characters. It is false when a
// rule denies the text.
func (m *Matcher) Scan(piece string) bool {
	for i, s := range m.scanners {
		if m.idle[i] {
			continue
		}
		m.found.rule, m.found.deny = i, m.rules[i].Deny
		s.scan(piece, m.pos, &m.found)
	}
	m.pos += utf8.RuneCountInString(piece)
	return m.found.deniedBy < 0
}

// End is Scan for the end of the text.
func (m *Matcher) End() bool {
	for i, s := range m.scanners {
		if m.idle[i] {
			continue
		}
		m.found.rule, m.found.deny = i, m.rules[i].Deny
		s.end(m.pos, &m.found)
	}
	return m.found.deniedBy < 0
}

// DeniedBy returns the index of the rule that denied the text, -1 for none.
func (m *Matcher) DeniedBy() int { return m.found.deniedBy }

// Redacted returns the indexes of the rules whose marks were made since the
// last call, each once. They are valid until the next text or piece.
func (m *Matcher) Redacted() []int {
	list := m.cover.marked
	m.cover.marked = list[:0]
	return list
}

// settled is up to where nothing more can be found.
func (m *Matcher) settled() int {
	to := m.pos
	for i, s := range m.scanners {
		if !m.idle[i] {
			to = min(to, s.hold())
		}
	}
	if m.found.window > 0 {
		to = max(to, m.pos-m.found.window)
	}
	return to
}

// Settle returns how many bytes of text can no longer become part of a find,
// and the edits in them; text is what was read and not settled before. Last
// says that the text has ended, so that nothing waits. The edits are valid
// until the next call.
func (m *Matcher) Settle(text string, last bool) (n int, edits []Edit) {
	to := math.MaxInt
	if !last {
		to = m.settled()
	}
	m.list = m.cover.edits(m.list[:0], text, to, &m.found, m.rules)
	m.cover.walk(text, to)
	n, m.cover.byte = m.cover.byte, 0
	return n, m.list
}

// Follow makes the matcher ready for a text that goes on from another, of which
// before is the end. That was judged: of what is found from now on, only what
// reaches into the new text is taken out.
func (m *Matcher) Follow(before string) {
	if before == "" {
		return
	}
	m.Scan(before)
	m.found.reset(m.found.window)
	m.cover.char = m.pos
}

// Whole reads a whole text, which goes on from before as in [Matcher.Follow].
// The edits are valid until the next call. The error is [ErrDenied],
// [ErrTooManyFinds], or [ErrStopped] when done was closed.
func (m *Matcher) Whole(text, before string, done <-chan struct{}) ([]Edit, error) {
	m.reset(0)
	for i := range m.rules {
		needs := m.rules[i].Detector.needs
		m.idle[i] = needs != "" && !strings.Contains(before, needs) && !strings.Contains(text, needs)
	}
	m.Follow(before)
	m.list = m.list[:0]
	for at := 0; at < len(text); {
		select {
		case <-done:
			return nil, ErrStopped
		default:
		}
		end := min(at+blockSize, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		if err := m.block(text[at:end], len(text) > blockSize, done); err != nil {
			return nil, err
		}
		m.list = m.cover.edits(m.list, text, m.settled(), &m.found, m.rules)
		if len(m.list)+len(m.found.hits) > MaxFinds {
			return nil, ErrTooManyFinds
		}
		at = end
	}
	if !m.End() {
		return nil, ErrDenied
	}
	m.list = m.cover.edits(m.list, text, math.MaxInt, &m.found, m.rules)
	return m.list, nil
}

// block is Scan for a block. That of a long text waits for its turn, or until
// done is closed.
func (m *Matcher) block(piece string, long bool, done <-chan struct{}) error {
	if long {
		select {
		case longTexts <- struct{}{}:
			defer func() { <-longTexts }()
		case <-done:
			return ErrStopped
		}
	}
	if !m.Scan(piece) {
		return ErrDenied
	}
	return nil
}
