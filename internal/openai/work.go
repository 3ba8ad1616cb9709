package openai

import (
	"strconv"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxScratch bounds the buffers that go back to a pool, in bytes, and maxKept the lists, in
	// elements: one answer of a megabyte must not cost memory forever.
	maxScratch = 16 << 10
	maxKept    = 256

	// usualMembers is how many members an object of a completion usually has at most. A list for
	// so many is made at once and not by doubling.
	usualMembers = 16
)

// work is the memory for one event or whole answer. It is pooled: a stream may be idle for hours,
// with thousands like it, and holds none then.
type work struct {
	members []jsonscan.Member // of the event
	err     error             // of the walk that found them
	nested  []jsonscan.Member // of all objects in it that were opened
	patches [levels]jsonscan.Patch
	spans   [2][]jsonscan.Span
	edits   edits
	small   []byte // values that replace others

	// Of a chat completion: what a translation and the next chunk need to know.
	chunk Chunk
	calls []ChunkCall // of all choices
	text  textSpan
	vars  [Variables]Variable
	first bool // it began a choice or a tool call, which one that repeats it would not
}

var works = sync.Pool{New: func() any {
	return &work{
		members: make([]jsonscan.Member, 0, usualMembers),
		nested:  make([]jsonscan.Member, 0, 2*usualMembers),
	}
}}

// release returns the memory to the pool, without references to the event.
func (w *work) release() {
	for i := range w.patches {
		w.patches[i].Reset(nil, nil)
	}
	for i := range w.spans {
		w.spans[i] = emptied(w.spans[i], maxKept)
	}
	w.members, w.nested = emptied(w.members, maxKept), emptied(w.nested, maxKept)
	w.small = emptied(w.small, maxScratch)
	w.edits.reset()
	w.chunk.reset()
	clear(w.calls)
	w.calls = emptied(w.calls, maxKept)
	w.text, w.vars, w.first = textSpan{}, [Variables]Variable{}, false
	w.err = nil
	works.Put(w)
}

// open returns the members of an object inside the event, and a patch for it.
func (w *work) open(level Level, object []byte) (*jsonscan.Patch, []jsonscan.Member) {
	members := w.inside(object)
	w.patches[level].Reset(object, members)
	return &w.patches[level], members
}

// inside returns the members of an object inside the event. They are valid as long as its own.
func (w *work) inside(object []byte) []jsonscan.Member {
	n := len(w.nested)
	w.nested = jsonscan.Members(object, w.nested)
	return w.nested[n:len(w.nested):len(w.nested)]
}

// quote and digits return small values that live as long as the event.
func (w *work) quote(s string) []byte {
	at := len(w.small)
	w.small = jsonscan.AppendString(w.small, s)
	return w.small[at:len(w.small):len(w.small)]
}

func (w *work) digits(n int64) []byte {
	at := len(w.small)
	w.small = strconv.AppendInt(w.small, n, 10)
	return w.small[at:len(w.small):len(w.small)]
}

// emptied returns s without its elements, or nil if it has room for more than limit of them.
func emptied[T any](s []T, limit int) []T {
	if cap(s) > limit {
		return nil
	}
	return s[:0]
}
