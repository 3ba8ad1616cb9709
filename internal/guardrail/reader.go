package guardrail

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// blockSize is how many bytes of a whole text are scanned at a time: what is
// found in it is settled before the next, so that finds do not pile up.
const blockSize = 64 << 10

// longTexts has room for the blocks of long texts that are read at a time. They
// leave half of the processors to the short ones, and take turns with one
// another.
var longTexts = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// boundRule is a rule in a [Set], with its guardrail's name.
type boundRule struct {
	rule
	guardrail string
}

// reader reads texts by all rules of a set in one direction.
type reader struct {
	rules    []boundRule
	scanners []scanner
	idle     []bool // which need not read the text
	found    found
	cover    cover
	pos      int // how many characters were read
	list     []edit
	before   string // what the next whole text goes on from

	left    <-chan struct{} // closed when nobody wants the answer any more
	stopped bool            // for that whole gave up
	full    bool            // or for more finds than maxFinds
}

func newReader(rules []boundRule) *reader {
	r := &reader{rules: rules, scanners: make([]scanner, len(rules)), idle: make([]bool, len(rules))}
	for i := range rules {
		r.scanners[i] = rules[i].new()
	}
	return r
}

func (r *reader) reset(window int) {
	for i, s := range r.scanners {
		s.reset()
		r.idle[i] = false
	}
	r.found.reset(window)
	r.cover, r.pos = cover{marked: r.cover.marked[:0], marks: r.cover.marks}, 0
	r.stopped, r.full = false, false
}

// maxKept bounds the lists that a reader keeps for the next body.
const maxKept = 1 << 10

// shrink makes the reader ready to wait for another body.
func (r *reader) shrink() {
	r.left = nil
	if cap(r.list) > maxKept || cap(r.found.hits) > maxKept {
		r.list, r.found.hits = nil, nil
	}
}

// scan reads a piece. It is false when a rule denies the text.
func (r *reader) scan(piece string) bool {
	for i, s := range r.scanners {
		if r.idle[i] {
			continue
		}
		r.found.rule, r.found.deny = i, r.rules[i].action == Deny
		s.scan(piece, r.pos, &r.found)
	}
	r.pos += utf8.RuneCountInString(piece)
	return r.found.deniedBy < 0
}

// end is scan for the end of the text.
func (r *reader) end() bool {
	for i, s := range r.scanners {
		if r.idle[i] {
			continue
		}
		r.found.rule, r.found.deny = i, r.rules[i].action == Deny
		s.end(r.pos, &r.found)
	}
	return r.found.deniedBy < 0
}

// settled is up to where nothing more can be found.
func (r *reader) settled() int {
	to := r.pos
	for i, s := range r.scanners {
		if !r.idle[i] {
			to = min(to, s.hold())
		}
	}
	if r.found.window > 0 {
		to = max(to, r.pos-r.found.window)
	}
	return to
}

// verdict is that of the rule which denied the text.
func (r *reader) verdict() *Verdict { return r.say(r.found.deniedBy) }

func (r *reader) say(i int) *Verdict {
	return &Verdict{Guardrail: r.rules[i].guardrail, Class: r.rules[i].class}
}

// told adds to list what the reader took out of its text, each kind once.
func (r *reader) told(list []Verdict) []Verdict {
	for _, i := range r.cover.marked {
		if v := *r.say(i); !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	r.cover.marked = r.cover.marked[:0]
	return list
}

// whole reads a whole text. The edits are valid until the next call. There are
// none where it gave up, which stopped and full tell.
func (r *reader) whole(text string) ([]edit, *Verdict) {
	r.reset(0)
	for i := range r.rules {
		needs := r.rules[i].needs
		r.idle[i] = needs != "" && !strings.Contains(r.before, needs) && !strings.Contains(text, needs)
	}
	r.follow()
	r.list = r.list[:0]
	for at := 0; at < len(text); {
		select {
		case <-r.left:
			r.stopped = true
			return nil, nil
		default:
		}
		end := min(at+blockSize, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		switch ok := r.block(text[at:end], len(text) > blockSize); {
		case r.stopped:
			return nil, nil
		case !ok:
			return nil, r.verdict()
		}
		if r.list = r.cover.edits(r.list, text, r.settled(), &r.found, r.rules); len(r.list)+len(r.found.hits) > maxFinds {
			r.full = true
			return nil, nil
		}
		at = end
	}
	if !r.end() {
		return nil, r.verdict()
	}
	r.list = r.cover.edits(r.list, text, math.MaxInt, &r.found, r.rules)
	return r.list, nil
}

// block is scan for a block. That of a long text waits for its turn, or until
// nobody wants the answer any more, which stopped tells.
func (r *reader) block(piece string, long bool) bool {
	if long {
		select {
		case longTexts <- struct{}{}:
			defer func() { <-longTexts }()
		case <-r.left:
			r.stopped = true
			return false
		}
	}
	return r.scan(piece)
}

// apply appends text with its edits made.
func apply(dst []byte, text string, edits []edit) []byte {
	at := 0
	for _, e := range edits {
		dst = append(dst, text[at:e.from]...)
		dst = append(dst, e.mark...)
		at = e.to
	}
	return append(dst, text[at:]...)
}

// appendEdited appends text with its edits made, as a JSON string.
func appendEdited(dst []byte, text string, edits []edit) []byte {
	dst = append(dst, '"')
	at := 0
	for _, e := range edits {
		dst = appendInner(dst, text[at:e.from])
		dst = append(dst, e.mark...)
		at = e.to
	}
	return append(appendInner(dst, text[at:]), '"')
}

// appendInner appends a part of a JSON string, of which the opening quote is
// in dst: without the quotes that AppendString puts around it.
func appendInner(dst []byte, part string) []byte {
	last := len(dst) - 1
	c := dst[last]
	dst = jsonscan.AppendString(dst[:last], part)
	dst[last] = c
	return dst[:len(dst)-1]
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
