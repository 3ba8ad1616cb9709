package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// ImageStream is the [Stream] of pictures: of OpenAI's events image_generation.… and image_edit.…, and of
// OpenRouter's. Events pass as they came. OpenAI's streams end with the connection, OpenRouter's with
// [DONE].
type ImageStream struct {
	call     Call
	pictures int64 // that were asked for
	mark     bool  // the client gets [DONE], and errors as events of that type
	sum      Summary
	done     bool // the provider sent [DONE]
	ended    bool // the client got the end
}

// NewImageStream returns the stream of a client that asked for so many pictures. Mark says that its
// family, which is OpenRouter's, ends streams with [DONE].
func NewImageStream(call Call, pictures int64, mark bool) *ImageStream {
	return &ImageStream{call: call, pictures: max(pictures, 1), mark: mark}
}

// completed ends the type of an event with a whole picture.
var completed = []byte(".completed")

// Data implements [Stream].
func (s *ImageStream) Data(dst []byte, e *Event) []byte {
	if s.done || s.ended || len(e.Data) == 0 {
		return dst
	}
	if s.done = e.Done(); s.done {
		return dst
	}
	members, err := e.Members()
	if err != nil {
		return s.fail(dst, s.call.Broken("sent an event that is not JSON").WithCause(err))
	}
	kind, failed := e.Name, string(e.Name) == "error"
	var usage []byte
	for _, m := range members {
		switch value := m.Value(e.Data); string(m.Key(e.Data)) {
		case "type":
			if name, _ := jsonscan.String(value); name != "" {
				kind, failed = []byte(name), failed || name == "error"
			}
		case "error":
			failed = failed || truthy(value)
		case "usage":
			usage = value
		}
	}
	if failed {
		return s.fail(dst, s.sum.fault(&s.call, e.Data))
	}
	s.sum.Text = true
	s.sum.Later++
	if bytes.HasSuffix(kind, completed) {
		s.complete(usage)
	}
	return append(e.AppendTo(appendEventHead(dst, e.Name)), eventEnd...)
}

// complete counts a picture. Its usage is that of the stream only once all pictures have come.
func (s *ImageStream) complete(usage []byte) {
	s.sum.Finished++
	u, ok := imageUsage(usage)
	if total := &s.sum.Usage; ok {
		total.Prompt, total.Completion, total.Total = total.Prompt+u.Prompt, total.Completion+u.Completion, total.Total+u.Total
		total.Cached += u.Cached
		for i, n := range u.Units {
			total.Units[i] += n
		}
		total.Cost = u.Cost
		s.sum.HasUsage = true
	}
	s.sum.Usage.Units[units.Images]++
	if s.sum.Finished >= s.pictures {
		s.sum.Later = 0
	}
}

// Done implements [Stream].
func (s *ImageStream) Done() bool { return s.done || s.ended }

// Close implements [Stream].
func (s *ImageStream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	if s.ended || failure != nil || s.sum.Finished == 0 {
		return CloseStream(dst, s.ended, s.sum.Err, failure, s.fail)
	}
	s.ended, s.sum.HasUsage = true, true
	if s.mark {
		dst = append(dst, doneEvent...)
	}
	return dst, nil
}

// Summary implements [Stream].
func (s *ImageStream) Summary() Summary { return s.sum }

// fail ends the stream with an error, which SDKs find by its member.
func (s *ImageStream) fail(dst []byte, e *apierror.Error) []byte {
	s.ended, s.sum.Err, s.sum.Finish = true, e, finishError
	if !s.mark {
		return AppendStreamError(dst, e)
	}
	dst = append(dst, `data: {"type":"error","error":`...)
	return append(append(appendErrorObject(dst, e), '}'), eventEnd...)
}

// ImageEvents returns what makes the events of a stream out of a whole answer with pictures: one for
// each, with the usage in the last. Created is the member that says when.
func ImageEvents(kind, created string) func(dst, body []byte, call Call) ([]byte, Summary, error) {
	return func(dst, body []byte, call Call) ([]byte, Summary, error) {
		_, sum, err := Images.Result(nil, body, call)
		if err != nil {
			return dst, sum, err
		}
		var data, common, usage []byte
		for m := range jsonscan.AllMembers(body) {
			switch value := m.Value(body); string(m.DecodedKey(body)) {
			case "data":
				data = value
			case "usage":
				usage = value
			case "created":
				common = append(append(append(common, `,"`...), created...), `":`...)
				common = append(common, value...)
			default:
				common = appendMember(common, body, m)
			}
		}
		left := sum.Usage.Units[units.Images]
		for e := range jsonscan.AllElements(data) {
			event := append([]byte(`{"type":"`), kind+string(completed)+`"`...)
			event = append(event, common...)
			picture := e.Value(data)
			for m := range jsonscan.AllMembers(picture) {
				event = appendMember(event, picture, m)
			}
			if left--; left == 0 && usage != nil {
				event = append(append(event, `,"usage":`...), usage...)
			}
			dst = appendEvent(dst, []byte(kind+string(completed)), append(event, '}'))
		}
		return dst, sum, nil
	}
}

// imageUsage reads the usage of pictures. Output that it does not split is pictures.
func imageUsage(value []byte) (Usage, bool) {
	u, ok := ParseUsage(value)
	if !ok {
		return u, false
	}
	if !u.PicturesSplit {
		u.Units[units.ImageOutput] = max(u.Units[units.ImageOutput], u.Completion)
	}
	return u, true
}
