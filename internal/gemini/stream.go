package gemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Stream is the [openai.Stream] of generateContent. Events pass as they came, with the model as asked. It
// ends with the connection, or by an event with an error.
//
// An event that repeats the one before, but for its text and what was used, is not read.
type Stream struct {
	response
	candidates int64  // that were asked for
	before     int    // shape of the event before, 0 if none may repeat it
	used       []byte // usageMetadata of the event before, if it was not read
	ended      bool   // by an error
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
	if s.before != 0 && e.Repeats() && e.Shape() == s.before {
		s.sum.Later++
		s.used = append(s.used[:0], e.Value(openai.VarUsage)...)
		if e.Has(openai.VarModel) {
			e.Replace(openai.VarModel, s.model)
		}
		return appendData(dst, e)
	}
	s.readUsed()
	s.before = 0
	members, err := e.Members()
	if err != nil {
		return s.failed(dst, s.call.Broken("answered what is not JSON").WithCause(err))
	}
	if failed := s.fault(e.Data, members); failed != nil {
		return s.failed(dst, failed)
	}
	finished := s.sum.Finished
	s.read(e.Data, members)
	if s.sum.Text && s.sum.Finished == finished && e.Learn(s.vars) {
		s.before = e.Shape()
	}
	if model := s.vars[openai.VarModel]; model.End > 0 {
		model.New = s.model
		e.Set(openai.VarModel, model)
	}
	return appendData(dst, e)
}

func appendData(dst []byte, e *openai.Event) []byte {
	return append(e.AppendTo(append(dst, "data: "...)), "\n\n"...)
}

// readUsed reads what the event before has used.
func (s *Stream) readUsed() {
	if u, ok := ParseUsage(s.used); ok {
		s.sum.Usage, s.sum.HasUsage, s.sum.Later = u, true, 0
	}
	s.used = s.used[:0]
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
func (s *Stream) Summary() openai.Summary {
	s.readUsed()
	return s.sum
}

// failed ends the stream with an error.
func (s *Stream) failed(dst []byte, e *apierror.Error) []byte {
	s.ended, s.sum.Err, s.sum.Finish = true, e, Broken
	return append(AppendError(append(dst, "data: "...), e, s.call.RequestID), "\n\n"...)
}
