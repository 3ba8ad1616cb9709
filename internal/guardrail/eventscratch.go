package guardrail

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxScratch bounds each list that is kept for the next event. A usual event has a few dozen
// elements, the worst has thousands.
const maxScratch = 256

// scratch is the working memory for one event. It is pooled, so that a stream that waits holds
// none.
type scratch struct {
	members, inner []jsonscan.Member
	spans          []jsonscan.Span
	choices        []chatChoice
	regions        []region
	elements       []element
	frames         []document.Frame
	reader         document.Reader
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// free returns the memory to the pool, without references to the event.
func (s *scratch) free() {
	s.reader.Release()
	if max(cap(s.members), cap(s.inner), cap(s.spans), cap(s.choices), cap(s.regions), cap(s.elements), cap(s.frames)) > maxScratch {
		return
	}
	clear(s.choices)
	clear(s.regions)
	clear(s.elements)
	clear(s.frames[:cap(s.frames)])
	scratches.Put(s)
}
