package guardrail

import (
	"strings"
	"sync"

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
	spots          []spot
	elements       []element
	frames         []frame
	changes        []change
	values         []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// free gives the room back, with nothing in it that holds on to an event.
func (s *scratch) free() {
	if max(cap(s.members), cap(s.inner), cap(s.spans), cap(s.choices), cap(s.spots), cap(s.elements), cap(s.frames), cap(s.changes), cap(s.values)/64) > maxScratch {
		return
	}
	clear(s.choices)
	clear(s.spots)
	clear(s.elements)
	clear(s.frames[:cap(s.frames)])
	scratches.Put(s)
}

// usualKeys are those of the APIs: a key that is one of them is not copied.
var usualKeys = func() map[string]string {
	keys := map[string]string{}
	var add func(*node)
	add = func(n *node) {
		for key, child := range n.next {
			keys[key] = key
			add(child)
		}
	}
	add(unreadOfRequests)
	add(unreadOfAnswers)
	for _, key := range strings.Fields(`arguments choices content content_index created created_at delta error finish_reason function index
		input item logprobs message messages name output output_index parameters provider reasoning reasoning_content refusal response
		sequence_number summary_index text tool_calls type usage`) {
		keys[key] = key
	}
	return keys
}()

// keyText is a key as a string.
func keyText(key []byte) string {
	if usual, ok := usualKeys[string(key)]; ok {
		return usual
	}
	return string(key)
}
