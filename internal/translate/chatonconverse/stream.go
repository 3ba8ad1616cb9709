package chatonconverse

import (
	"errors"
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// stream reads the frames of a streamed answer.
type stream struct {
	reader
	frames *aws.Reader
	frame  aws.Frame // that was waited for
	err    error     // instead of it
}

// Stream returns the chat stream of an answer.
func (o *Original) Stream(body io.Reader, call openai.Call, _ translate.Again) io.Reader {
	return completion.NewReader(o.functions, call, func(call *openai.Call, to *completion.Chunks) completion.Source {
		return &stream{reader: newReader(call, o, to, false), frames: aws.NewReader(body)}
	})
}

func (s *stream) TakeReceived() (bool, error) {
	if !s.frames.Received() {
		return false, nil
	}
	s.Await()
	return true, s.Take()
}

// Await, Ending, Usage and Close implement [completion.Source].
func (s *stream) Await()                      { s.frame, s.err = s.frames.Next() }
func (s *stream) Ending() completion.Ending   { return s.ending }
func (s *stream) Usage() (openai.Usage, bool) { return s.ending.Usage, s.ending.HasUsage }
func (s *stream) Close()                      {}

func (s *stream) Take() error {
	switch f := s.frame; {
	case s.err == io.EOF:
		return s.end()
	case errors.Is(s.err, io.ErrUnexpectedEOF):
		return openai.ErrCut
	case s.err != nil && !errors.Is(s.err, aws.ErrFrame): // a timeout, or the client has left
		return s.err
	case s.err != nil:
		return translate.ProviderFailure(s.call, "sent a frame that cannot be read").WithCause(s.err)
	case f.Failed:
		return &completion.Reported{Body: f.Failure().Body()}
	}
	if err := s.event(s.frame.Name, s.frame.Payload); err != nil {
		return err
	}
	return s.checkSize(false)
}

func (s *stream) event(name string, data []byte) error {
	var usual [4]jsonscan.Member
	if _, err := jsonscan.Lenient(data, usual[:0]); err != nil { // text would be missing
		return translate.ProviderFailure(s.call, "answered what is not JSON").WithCause(err)
	}
	index := translate.CountOf(data, "contentBlockIndex")
	switch name {
	case "contentBlockStart":
		if call := translate.Member(translate.Member(data, "start"), "toolUse"); call != nil {
			return s.startCall(index, call)
		}
	case "contentBlockDelta":
		delta := translate.Member(data, "delta")
		if input, some := translate.Unquoted(translate.Member(translate.Member(delta, "toolUse"), "input")); some {
			return s.arguments(index, input)
		}
		s.text(translate.Member(delta, "text"))
		s.reasoning(index, translate.Member(delta, "reasoningContent"))
	case "contentBlockStop":
		return s.endBlock(index)
	case "messageStop":
		s.reason, _ = jsonscan.String(translate.Member(data, "stopReason"))
	case "metadata":
		s.takeUsage(data)
	}
	return nil // messageStart, and what is not known
}

// maxAnswer bounds a whole answer, in bytes.
const maxAnswer = 64 << 20

// Whole returns the whole chat completion of an answer, or an object with the error that it
// reports.
func (o *Original) Whole(body io.Reader, call openai.Call, _ translate.Again) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if _, err := jsonscan.Lenient(data, nil); err != nil {
		return nil, translate.ProviderFailure(&call, "answered what is not JSON").WithCause(err)
	}
	message := completion.NewMessage(o.functions)
	r := newReader(&call, o, message, true)
	r.takeUsage(data)
	err = r.whole(data)
	return completion.End(message, r.ending, err)
}

// whole reads a whole answer. It returns io.EOF, or says why it is none.
func (r *reader) whole(data []byte) error {
	content := translate.Member(translate.Member(translate.Member(data, "output"), "message"), "content")
	if len(content) == 0 || content[0] != '[' {
		return translate.ProviderFailure(r.call, "answered with what is no message")
	}
	index := int64(0)
	for span := range jsonscan.AllElements(content) {
		block := span.Value(content)
		r.text(translate.Member(block, "text"))
		translate.EachObject(translate.Member(translate.Member(block, "citationsContent"), "content"), func(said []byte) {
			r.text(translate.Member(said, "text"))
		})
		r.reasoning(index, translate.Member(block, "reasoningContent"))
		if use := translate.Member(block, "toolUse"); use != nil {
			err := r.startCall(index, use)
			if input := translate.Member(use, "input"); err == nil && input != nil {
				quoted := jsonscan.AppendString(nil, string(input))
				err = r.arguments(index, quoted[1:len(quoted)-1])
			}
			if err == nil {
				err = r.endBlock(index)
			}
			if err != nil {
				return err
			}
		}
		if err := r.checkSize(true); err != nil {
			return err
		}
		index++
	}
	r.reason, _ = jsonscan.String(translate.Member(data, "stopReason"))
	if err := r.end(); !errors.Is(err, openai.ErrCut) {
		return err
	}
	return translate.ProviderFailure(r.call, "answered without a reason to stop")
}
