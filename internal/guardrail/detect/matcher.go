package detect

import (
	"errors"
	"math"
	"runtime"
	"unicode/utf8"
)

const (
	// MaxHits is how many hits one text may have. A text of a million tokens has fewer, and each
	// costs memory.
	MaxHits = 1 << 17

	// blockSize is how many bytes of a whole text are scanned at a time. The hits of a block are
	// turned into edits before the next, so that they do not pile up.
	blockSize = 64 << 10

	// maxKept bounds the lists that a matcher keeps for the next body.
	maxKept = 1 << 10
)

// The errors of [Matcher.Whole].
var (
	ErrDenied      = errors.New("a rule denies the text")
	ErrTooManyHits = errors.New("the text has too many hits")
	ErrStopped     = errors.New("the caller has stopped the scan")
)

// longTexts is a semaphore for the blocks of long texts. Long texts use half of the processors, so
// that short ones need not wait, and they alternate block by block.
var longTexts = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// Matcher runs the detectors of a list of rules over one text at a time. It is not safe for
// concurrent use.
type Matcher struct {
	rules    []Rule
	scanners []scanner
	hits     hitList
	redactor redactor
	pos      int // how many characters were read
	edits    []Edit
}

// NewMatcher returns a matcher. Its user either calls [Matcher.Whole] for any number of texts, or
// reads one text in pieces by Scan, Settle and End. In pieces, a character is held back until
// window more have been read, or without a limit if window is 0.
func NewMatcher(rules []Rule, window int) *Matcher {
	m := &Matcher{rules: rules, scanners: make([]scanner, len(rules))}
	for i := range rules {
		m.scanners[i] = rules[i].Detector.newScanner()
	}
	m.reset(window)
	return m
}

func (m *Matcher) reset(window int) {
	for _, s := range m.scanners {
		s.reset()
	}
	m.hits.reset(window)
	m.redactor, m.pos = redactor{marked: m.redactor.marked}, 0
}

// Release prepares the matcher for another body. It drops the text and lists that grew large.
func (m *Matcher) Release() {
	m.reset(0)
	m.redactor.marked = m.redactor.marked[:0]
	if cap(m.edits) > maxKept || cap(m.hits.hits) > maxKept {
		m.edits, m.hits.hits = nil, nil
	}
}

// Reset prepares a matcher for another text in pieces. It is then as [NewMatcher] returns it.
func (m *Matcher) Reset(window int) {
	m.Release()
	m.reset(window)
}

// Scan reads the next piece of the text, which must end between two characters. It returns false if
// a rule denies the text.
func (m *Matcher) Scan(piece string) (ok bool) {
	for i, s := range m.scanners {
		m.hits.rule, m.hits.deny = i, m.rules[i].Deny
		s.scan(piece, m.pos, &m.hits)
	}
	m.pos += runeCount(piece)
	return m.hits.deniedBy < 0
}

// End ends the text. It returns false if a rule denies it.
func (m *Matcher) End() (ok bool) {
	for i, s := range m.scanners {
		m.hits.rule, m.hits.deny = i, m.rules[i].Deny
		s.end(m.pos, &m.hits)
	}
	return m.hits.deniedBy < 0
}

// DeniedBy returns the index of the rule that denied the text, -1 for none.
func (m *Matcher) DeniedBy() int { return m.hits.deniedBy }

// Redacted returns the indexes of the rules whose marks were written since the last call, each
// once. The slice is valid until the next text or piece.
func (m *Matcher) Redacted() []int {
	list := m.redactor.marked
	m.redactor.marked = list[:0]
	return list
}

// settled returns the position before which nothing more can be found.
func (m *Matcher) settled() int {
	to := m.pos
	for _, s := range m.scanners {
		to = min(to, s.hold(m.pos))
	}
	if m.hits.window > 0 {
		to = max(to, m.pos-m.hits.window)
	}
	return to
}

// Settle returns how many bytes of text can no longer become part of a hit, and the edits in them.
// text must be what was read and not yet settled. If last is set, the text has ended and all of it
// is settled. The edits are valid until the next call.
func (m *Matcher) Settle(text string, last bool) (n int, edits []Edit) {
	to := math.MaxInt
	if !last {
		to = m.settled()
	}
	m.edits = m.redactor.edits(m.edits[:0], text, to, &m.hits, m.rules)
	m.redactor.advance(text, to)
	n, m.redactor.byte = m.redactor.byte, 0
	return n, m.edits
}

// Follow tells the matcher that its text continues another one, which ended with before and was
// judged. A match may begin in before, but only its part in the new text is taken out. Matches that
// end in before are ignored.
func (m *Matcher) Follow(before string) {
	if before == "" {
		return
	}
	m.Scan(before)
	m.hits.reset(m.hits.window)
	m.redactor.char = m.pos
}

// Whole reads a whole text, which continues before as in [Matcher.Follow]. The edits are valid
// until the next call. The error is [ErrDenied], [ErrTooManyHits], or [ErrStopped] after done was
// closed.
func (m *Matcher) Whole(text, before string, done <-chan struct{}) ([]Edit, error) {
	m.reset(0)
	m.Follow(before)
	m.edits = m.edits[:0]
	marked := len(m.redactor.marked)
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
		if err := m.scanBlock(text[at:end], len(text) > blockSize, done); err != nil {
			return nil, err
		}
		m.edits = m.redactor.edits(m.edits, text, m.settled(), &m.hits, m.rules)
		if len(m.edits)+len(m.hits.hits) > MaxHits {
			return nil, ErrTooManyHits
		}
		at = end
	}
	if !m.End() {
		return nil, ErrDenied
	}
	m.edits = m.redactor.edits(m.edits, text, math.MaxInt, &m.hits, m.rules)
	if len(m.edits) == 0 { // a match that ended in before has a mark, but no edit
		m.redactor.marked = m.redactor.marked[:marked]
	}
	return m.edits, nil
}

// scanBlock is Scan for a block. A block of a long text waits for the semaphore.
func (m *Matcher) scanBlock(block string, long bool, done <-chan struct{}) error {
	if long {
		select {
		case longTexts <- struct{}{}:
			defer func() { <-longTexts }()
		case <-done:
			return ErrStopped
		}
	}
	if !m.Scan(block) {
		return ErrDenied
	}
	return nil
}
