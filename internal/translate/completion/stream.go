package completion

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Stream has the life of a client's stream.
type Stream struct {
	Chunks  Chunks // what an answer is written to
	failure *apierror.Error
	ended   bool // the client got the end
}

// NewStream returns the stream of one client. It owns the family's stream.
func NewStream(functions translate.Functions, family openai.DeltaStream) Stream {
	return Stream{Chunks: Chunks{family: functions.Stream(family)}}
}

// Resume takes the client's buffer, to which the next chunks are appended.
func (s *Stream) Resume(dst []byte) { s.Chunks.out = dst }

// Pause returns the buffer with the chunks that were written. A failure ends the stream.
func (s *Stream) Pause(failure *apierror.Error) []byte {
	if failure != nil {
		s.fail(failure)
	} else if bad := s.Chunks.family.Summary().Err; bad != nil { // the client got it
		s.ended, s.failure = true, bad
	}
	if cap(s.Chunks.scratch) > translate.MaxScratch {
		s.Chunks.scratch = nil
	}
	return s.take()
}

// take returns what was written since the caller gave its buffer.
func (s *Stream) take() []byte {
	out := s.Chunks.out
	s.Chunks.out = nil
	return out
}

// fail ends the stream.
func (s *Stream) fail(e *apierror.Error) {
	s.ended, s.failure = true, e
	s.Chunks.out, _ = s.Chunks.family.Close(s.Chunks.out, e)
}

// Ended reports whether the client got the end.
func (s *Stream) Ended() bool { return s.ended }

// Close ends the stream as [openai.Stream] does. done says that the provider's answer is whole.
func (s *Stream) Close(dst []byte, failure *apierror.Error, done bool) ([]byte, error) {
	if s.ended || failure != nil || !done {
		return openai.CloseStream(dst, s.ended, s.failure, failure, func(dst []byte, e *apierror.Error) []byte {
			s.Chunks.out = dst
			s.fail(e)
			return s.take()
		})
	}
	out, err := s.Chunks.family.Close(dst, nil)
	s.ended = err == nil
	return out, err
}

// Summary is the summary of the family's stream.
func (s *Stream) Summary() openai.Summary { return s.Chunks.family.Summary() }

// Kept returns how many bytes of the answer the family's stream keeps.
func (s *Stream) Kept() int {
	if family, ok := s.Chunks.family.(interface{ Kept() int }); ok {
		return family.Kept()
	}
	return 0
}
