package vncrelay

import (
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// stream is what a workstation sends where that is followed: to keep its clipboard from the viewer, from
// the recording, or from both, and to know when to ask for the next picture.
type stream struct {
	framer    *rfb.Framer
	cut       bool              // the clipboard, for the viewer too
	recording *recording.Writer // nil: nothing is recorded
	begun     int64             // what the framer had seen begin

	// mu keeps what the viewer sends out of the recording between the framer's look at a piece and the
	// piece: a pixel format that was sent after an update had begun stands behind that beginning.
	mu sync.Mutex
}

// pass records a piece, and returns what of it the viewer gets. A workstation that cannot be followed ends
// the recording, and is an error where its clipboard is cut.
func (s *stream) pass(piece []byte) (rest []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if s.framer.Pixels() > framebuffer.MaxPixels {
			s.recording.Abort(errTooLarge)
		}
	}()
	if s.cut {
		rest, err = s.framer.Pass(piece)
		s.recording.Server(rest)
		return rest, err
	}
	if err := s.framer.Parts(piece, s.recording.Server); err != nil {
		s.recording.Abort(err)
	}
	return piece, nil
}

// updated reports whether an update has begun since the last call, or may have begun.
func (s *stream) updated() bool {
	before := s.begun
	s.begun = s.framer.Begun()
	return s.begun != before || s.framer.Lost()
}

// unused reports whether the workstation need not be followed any more.
func (s *stream) unused() bool { return !s.cut && s.recording == nil && s.framer.Unused() }

// Sent records what goes to the workstation. It is for the filter. A pixel format that a recording could not be
// replayed in ends it.
func (s *stream) Sent(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if format := message[min(4, len(message)):]; message[0] == setPixelFormat && len(format) == 16 {
		if err := new(framebuffer.Decoder).SetFormat([16]byte(format)); err != nil {
			s.recording.Abort(err)
		}
	}
	s.recording.Sent(message)
}

const setPixelFormat = 0 // of a viewer, with PIXEL_FORMAT behind 4 bytes

// taking marks in the recording of a person when the input comes from an agent.
type taking struct {
	*desktop.Input
	recording *recording.Writer
}

// Press is for the filter.
func (t taking) Press() {
	agents := t.Holder() == desktop.HolderAgent
	if t.Input.Press(); agents {
		t.recording.Mark("takeover", "")
	}
}

// Abort ends the recording.
func (s *stream) Abort(cause error) { s.recording.Abort(cause) }
