package completion

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Target is the stream of a client to which an answer is written: its content, between Resume and
// Pause, and its end.
type Target interface {
	openai.Stream

	// Content is what the content of the answer is written to.
	Content() translate.Content

	// SetHead sets the id and the time of the answer, nil if the provider gave none, unless it was
	// called before or something was written without.
	SetHead(id, created []byte)

	// Finish writes the end of an answer that is complete.
	Finish(e Ending)

	// Resume takes the client's buffer, to which what follows is appended. Pause returns it.
	Resume(dst []byte)
	Pause() []byte

	// Failure is what ended the stream, nil for none. The client got it.
	Failure() *apierror.Error

	// Kept returns how many bytes of the answer are kept.
	Kept() int
}

// chatTarget is the stream of a client of chat completions.
type chatTarget struct {
	openai.Stream // the family's
	chunks        Chunks
}

// NewTarget returns the stream of a client of chat completions. It owns the family's stream.
func NewTarget(functions translate.Functions, family openai.DeltaStream) Target {
	return newTarget(functions, family)
}

func newTarget(functions translate.Functions, family openai.DeltaStream) *chatTarget {
	family = functions.Stream(family)
	return &chatTarget{family, Chunks{family: family}}
}

func (t *chatTarget) Content() translate.Content { return &t.chunks }
func (t *chatTarget) SetHead(id, created []byte) { t.chunks.setHead(id, created) }
func (t *chatTarget) Finish(e Ending)            { t.chunks.finish(e) }
func (t *chatTarget) Resume(dst []byte)          { t.chunks.out = dst }
func (t *chatTarget) Failure() *apierror.Error   { return t.Summary().Err }

func (t *chatTarget) Pause() []byte {
	c := &t.chunks
	if cap(c.scratch) > translate.MaxScratch {
		c.scratch = nil
	}
	out := c.out
	c.out = nil
	return out
}

func (t *chatTarget) Kept() int {
	if family, ok := t.Stream.(interface{ Kept() int }); ok {
		return family.Kept()
	}
	return 0
}

// Stream has the life of a client's stream.
type Stream struct {
	To      Target
	failure *apierror.Error
	ended   bool // the client got the end
}

// Resume takes the client's buffer, to which the next content is appended.
func (s *Stream) Resume(dst []byte) { s.To.Resume(dst) }

// Pause returns the buffer with what was written. A failure ends the stream.
func (s *Stream) Pause(failure *apierror.Error) []byte {
	if failure != nil {
		return s.fail(s.To.Pause(), failure)
	}
	if bad := s.To.Failure(); bad != nil {
		s.ended, s.failure = true, bad
	}
	return s.To.Pause()
}

// fail ends the stream.
func (s *Stream) fail(dst []byte, e *apierror.Error) []byte {
	s.ended, s.failure = true, e
	dst, _ = s.To.Close(dst, e)
	return dst
}

// Ended reports whether the client got the end.
func (s *Stream) Ended() bool { return s.ended }

// Close ends the stream as [openai.Stream] does. done says that the provider's answer is whole.
func (s *Stream) Close(dst []byte, failure *apierror.Error, done bool) ([]byte, error) {
	if s.ended || failure != nil || !done {
		return openai.CloseStream(dst, s.ended, s.failure, failure, s.fail)
	}
	out, err := s.To.Close(dst, nil)
	s.ended = err == nil
	return out, err
}
