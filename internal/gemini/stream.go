package gemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Stream is the [openai.Stream] of generateContent. Events pass as they came, with the model as asked. It
// ends with the connection, or by an event with an error.
type Stream struct {
	response
	candidates int64 // that were asked for
	ended      bool  // by an error
}

// NewStream returns the stream of a client that asked for so many candidates, at least one.
func NewStream(call openai.Call, candidates int64) *Stream {
	return &Stream{response: newResponse(call), candidates: max(candidates, 1)}
}

// Data implements [openai.Stream].
func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.ended || len(e.Data) == 0 || e.Done() {
		return dst
	}
	members, err := e.Members()
	if err != nil {
		return s.failed(dst, s.call.Broken("answered what is not JSON").WithCause(err))
	}
	if failed := faultIn(&s.call, e.Data, members); failed != nil {
		return s.failed(dst, failed)
	}
	if model, _ := s.read(e.Data, members); model >= 0 {
		m := members[model]
		e.Set(openai.VarModel, openai.Variable{Start: m.ValueStart, End: m.ValueEnd, New: s.model})
	}
	return append(e.AppendTo(append(dst, "data: "...)), "\n\n"...)
}

// Done implements [openai.Stream].
func (s *Stream) Done() bool { return s.ended }

// Close implements [openai.Stream].
func (s *Stream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	switch {
	case s.ended && s.sum.Err != nil:
		return dst, s.sum.Err
	case s.ended:
		return dst, nil
	case failure != nil:
		return s.failed(dst, failure), failure
	case s.sum.Finished < s.candidates && !s.kept:
		return dst, openai.ErrCut
	}
	s.ended = true
	return dst, nil
}

// Summary implements [openai.Stream].
func (s *Stream) Summary() openai.Summary { return s.sum }

// failed ends the stream with an error.
func (s *Stream) failed(dst []byte, e *apierror.Error) []byte {
	s.ended, s.sum.Err, s.sum.Finish = true, e, Broken
	return append(AppendError(append(dst, "data: "...), e, s.call.RequestID), "\n\n"...)
}
