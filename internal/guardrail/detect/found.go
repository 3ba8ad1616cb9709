package detect

import (
	"cmp"
	"math"
	"slices"
)

// scanner finds what one rule is after in one text, which it is given in
// pieces, cut between characters. Positions count characters from the start of
// the text. How the text is cut makes no difference to what is found.
type scanner interface {
	// scan reads a piece; its first character is the one at pos.
	scan(piece string, pos int, f *found)
	// end says that the text ends at pos.
	end(pos int, f *found)
	// hold returns where the earliest stretch begins that may yet be found,
	// given more text; math.MaxInt if none has begun.
	hold() int
	// reset makes it ready for another text.
	reset()
}

// hit is a stretch of text that a rule found.
type hit struct {
	start, end int // what it covers
	origin     int // where it began; before start if that part was found too late
	rule       int
}

// found collects what the rules find in one text.
type found struct {
	hits   []hit
	sorted int  // how many of them are in the order of the text
	rule   int  // the rule that scans
	deny   bool // it denies

	// window is how long a character waits for what may cover it, 0 for ever.
	// What is found later does not cover it, so that the result does not
	// depend on the cut of the text.
	window int

	deniedBy, deniedAt int // the rule whose find ends it all, -1 for none, and when
}

func (f *found) reset(window int) {
	f.hits, f.sorted, f.window = f.hits[:0], 0, window
	f.deniedBy, f.deniedAt = -1, math.MaxInt
}

// add takes a find: known is how many characters had been read.
func (f *found) add(start, end, known int) {
	if f.deny {
		if known < f.deniedAt {
			f.deniedBy, f.deniedAt = f.rule, known
		}
		return
	}
	h := hit{start: start, end: end, origin: start, rule: f.rule}
	if f.window > 0 {
		h.start = max(start, known-f.window)
	}
	if h.start >= h.end {
		return
	}
	// A match that grows comes once for each character.
	if n := len(f.hits); n > f.sorted {
		last := &f.hits[n-1]
		if last.rule == h.rule && last.origin == h.origin && h.start < last.end {
			last.end = max(last.end, h.end)
			return
		}
	}
	f.hits = append(f.hits, h)
}

// sort puts the finds that were added in their places among those that wait.
// Most begin behind all of them.
func (f *found) sort() {
	fresh := f.hits[f.sorted:]
	slices.SortFunc(fresh, inText)
	if n := f.sorted; n > 0 && len(fresh) > 0 && inText(fresh[0], f.hits[n-1]) < 0 {
		from, _ := slices.BinarySearchFunc(f.hits[:n], fresh[0], inText)
		moved := slices.Clone(f.hits[from:n])
		for at := from; len(moved) > 0; at++ {
			if len(fresh) > 0 && inText(fresh[0], moved[0]) < 0 {
				f.hits[at], fresh = fresh[0], fresh[1:]
			} else {
				f.hits[at], moved = moved[0], moved[1:]
			}
		}
	}
	f.sorted = len(f.hits)
}

// inText compares finds by where they are.
func inText(a, b hit) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.origin, b.origin), cmp.Compare(a.rule, b.rule))
}
