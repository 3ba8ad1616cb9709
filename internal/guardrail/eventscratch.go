package guardrail

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxScratch bounds each list that is kept for the next event: those of a usual
// one have a few dozen elements, those of a provider's worst thousands.
const maxScratch = 256

// scratch is the room in which an event is looked at. It is taken for each, so
// that a stream that waits has none.
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

// free gives the room back, with nothing in it that holds on to an event.
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
