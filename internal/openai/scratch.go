package openai

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxScratch is the largest buffer that goes back to a pool, in bytes, so
	// that one answer of a megabyte is not paid for ever after.
	maxScratch = 16 << 10

	// usualMembers is how many members an object of a completion usually has
	// at most; an array of so many is made at once instead of by doubling.
	usualMembers = 16
)

// scratch is what the repair of one object works with: one of each for a
// level. It is borrowed for that time only.
type scratch struct {
	members [levels][]jsonscan.Member
	patches [levels]jsonscan.Patch
	bufs    [levels][]byte
	spans   [2][]jsonscan.Span
	splices [2]splice
	small   []byte // quoted words of the object in work

	// What a template needs to know of the chunk in work.
	first bool // it began something, and a second like it would not
	text  hole // its longest string, relative to the object in work
	holes []hole
}

var scratches = sync.Pool{New: func() any {
	s := new(scratch)
	for i := range s.members {
		s.members[i] = make([]jsonscan.Member, 0, usualMembers)
	}
	return s
}}

func (c *chat) borrow() { c.scratch = scratches.Get().(*scratch) }

// giveBack returns the scratch with nothing in it that refers to the object
// or would reach the next one.
func (c *chat) giveBack() {
	s := c.scratch
	c.scratch = nil
	for i := range s.members {
		s.patches[i].Reset(nil, nil)
		s.members[i] = emptied(s.members[i], maxScratch/64)
		s.bufs[i] = emptied(s.bufs[i], maxScratch)
	}
	for i := range s.splices {
		s.splices[i] = splice{buf: emptied(s.splices[i].buf, maxScratch)}
		s.spans[i] = emptied(s.spans[i], maxScratch/64)
	}
	s.small = emptied(s.small, maxScratch)
	s.holes = s.holes[:0]
	s.first, s.text = false, hole{}
	scratches.Put(s)
}

// emptied is s without its elements, or nil if there is room for more than
// limit of them.
func emptied[T any](s []T, limit int) []T {
	if cap(s) > limit {
		return nil
	}
	return s[:0]
}

// results are the machines of whole answers.
var results = sync.Pool{New: func() any { return new(chat) }}

// finish gives c back to results.
func (c *chat) finish() {
	c.model, c.id, c.provider = emptied(c.model, maxScratch), emptied(c.id, maxScratch), emptied(c.provider, maxScratch)
	c.usage = emptied(c.usage, maxScratch)
	c.reset(Call{}, Shape{}, false)
	results.Put(c)
}
