package detect

import (
	"cmp"
	"math"
	"slices"
)

// scanner is the state of one detector in one text. The text comes in pieces, cut between
// characters, and positions count characters from its start. Where the pieces are cut does not
// change what is found.
type scanner interface {
	// scan reads a piece whose first character is the one at pos.
	scan(piece string, pos int, hits *hitList)
	// end is called once, when the text ends at pos.
	end(pos int, hits *hitList)
	// hold returns the start of the earliest hit that more text may still complete, math.MaxInt if
	// there is none. The text was read up to pos.
	hold(pos int) int
	// reset prepares the scanner for another text.
	reset()
}

// Hit is a stretch of a text that a rule found, in characters. End is exclusive.
type Hit struct {
	Start, End int
	Rule       int // index of the rule
}

// hit is a Hit and where it really began: before Start, if that part was found too late.
type hit struct {
	Hit
	origin int
}

// hitList collects the hits in one text.
type hitList struct {
	hits   []hit
	sorted int  // the first so many are in the order of the text
	rule   int  // the rule that is scanning
	deny   bool // whether that rule denies

	// window is how many characters a character waits for a hit that covers it, 0 for no limit. A
	// hit that comes later does not cover it, even if it was not sent yet, so that the result does
	// not depend on how the text was cut.
	window int

	// deniedBy is the rule whose hit denies the text, -1 for none. Of several it is the one known
	// first, after deniedAt characters.
	deniedBy, deniedAt int
}

func (l *hitList) reset(window int) {
	l.hits, l.sorted, l.window = l.hits[:0], 0, window
	l.deniedBy, l.deniedAt = -1, math.MaxInt
}

// add adds a hit of the rule that is scanning; known is how many characters had been read.
func (l *hitList) add(start, end, known int) {
	if l.deny {
		if known < l.deniedAt {
			l.deniedBy, l.deniedAt = l.rule, known
		}
		return
	}
	h := hit{Hit{Start: start, End: end, Rule: l.rule}, start}
	if l.window > 0 {
		h.Start = max(start, known-l.window)
	}
	if h.Start >= h.End {
		return
	}
	// A match that grows is reported once for each character.
	if n := len(l.hits); n > l.sorted {
		last := &l.hits[n-1]
		if last.Rule == h.Rule && last.origin == h.origin && h.Start < last.End {
			last.End = max(last.End, h.End)
			return
		}
	}
	l.hits = append(l.hits, h)
}

// sort merges the hits added since the last call into the sorted ones. Most begin after all of
// those.
func (l *hitList) sort() {
	added := l.hits[l.sorted:]
	slices.SortFunc(added, inText)
	if n := l.sorted; n > 0 && len(added) > 0 && inText(added[0], l.hits[n-1]) < 0 {
		from, _ := slices.BinarySearchFunc(l.hits[:n], added[0], inText)
		moved := slices.Clone(l.hits[from:n])
		for at := from; len(moved) > 0; at++ {
			if len(added) > 0 && inText(added[0], moved[0]) < 0 {
				l.hits[at], added = added[0], added[1:]
			} else {
				l.hits[at], moved = moved[0], moved[1:]
			}
		}
	}
	l.sorted = len(l.hits)
}

// inText compares hits by their positions.
func inText(a, b hit) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.origin, b.origin), cmp.Compare(a.Rule, b.Rule))
}
