package rfb

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// shared is what a [Framer] and its [Filter] tell each other. They may be in two goroutines.
type shared struct {
	asked   layout        // by the viewer; it is the filter's
	next    atomic.Uint32 // the layout from the next update on
	waiting atomic.Int64  // update requests without an answer, at most

	begun int64       // updates, and ends of continuous ones; it is the framer's
	lost  atomic.Bool // what the server sends cannot be followed any more

	// Of continuous updates: continuous.go.
	offered   atomic.Bool // the viewer has listed them
	silent    int         // updates since then, without an announcement; it is the framer's
	announced atomic.Bool // the server has said that it can
	ending    atomic.Bool // the server has been told to end them, and has not yet said so
	unused    atomic.Bool // there are none, and nothing else needs the framer

	buttons atomic.Bool // the server has said that it knows extended mouse buttons
}

// maxSilent is how many updates a server may begin before it announces continuous updates, which it does in
// answer to the viewer's list. Until then it answers what was asked for before.
const maxSilent = 1000

// update notes that an update begins, and returns the layout of its pixels.
func (s *shared) update() layout {
	s.begun++
	if s.offered.Load() && !s.announced.Load() {
		if s.silent++; s.silent == maxSilent {
			s.unused.Store(true)
		}
	}
	next := layout(s.next.Load())
	if s.waiting.Load() > 0 {
		s.waiting.Add(-1) // also for an update that nobody has asked for: see setFormat
	}
	return next
}

// ended notes EndOfContinuousUpdates. The first one is an announcement.
func (s *shared) ended() {
	s.begun++
	s.announced.Store(true)
	if s.ending.Load() {
		s.waiting.Store(0) // the server has forgotten them
		s.ending.Store(false)
	}
}

// setFormat notes a pixel format that the viewer asks for. It holds from the next update on, so there
// must be none on its way that was made before: then nobody could know where that ends. Viewers wait
// for it themselves, as they could not read it either.
func (s *shared) setFormat(format []byte) error {
	bits, mapped := format[0], format[3] == 0
	if bits != 8 && (bits != 16 && bits != 32 || mapped) {
		return fmt.Errorf("pixels of %d bits", bits)
	}
	asked := layoutOf(format)
	if asked != s.asked && s.waiting.Load() > 0 {
		return errors.New("the viewer changed its pixel format while an update could be on its way, so that the clipboard could not be told apart")
	}
	s.asked = asked
	s.next.Store(uint32(asked))
	return nil
}
