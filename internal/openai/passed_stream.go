package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// PassedStream is the [Stream] of an API whose events pass as they came: sound, or its transcript. The
// event that ends it has the usage.
type PassedStream struct {
	call Call
	end  string // the type of the last event
	read func(usage []byte) (Usage, bool)
	sum  Summary
	done bool
}

// NewSpeechStream returns the stream of a text that is spoken.
func NewSpeechStream(call Call) *PassedStream {
	return &PassedStream{call: call, end: "speech.audio.done", read: func(value []byte) (Usage, bool) {
		u, ok := ParseUsage(value)
		u.Units[units.AudioOutput] = u.Completion
		return u, ok
	}}
}

// NewTranscriptStream returns the stream of a sound that is written.
func NewTranscriptStream(call Call) *PassedStream {
	return &PassedStream{call: call, end: "transcript.text.done", read: TranscriptUsage}
}

// Data implements [Stream].
func (s *PassedStream) Data(dst []byte, e *Event) []byte {
	if s.done || len(e.Data) == 0 {
		return dst
	}
	if !e.Done() {
		if bad := s.take(e); bad != nil {
			return s.fail(dst, bad)
		}
	} else {
		s.done = true
	}
	return append(e.AppendTo(appendEventHead(dst, e.Name)), eventEnd...)
}

// take notes what an event says, and returns the failure that it is.
func (s *PassedStream) take(e *Event) *apierror.Error {
	members, err := e.Members()
	if err != nil {
		return s.call.Broken("sent an event that is not JSON").WithCause(err)
	}
	o, typ := WalkedObject(e.Data, members), string(e.Name)
	if value := o.Get("type"); value != nil {
		typ, _ = jsonscan.String(value)
	}
	if o.failed() {
		return s.sum.fault(&s.call, e.Data)
	}
	if u, ok := s.read(o.Get("usage")); ok {
		s.sum.Usage, s.sum.HasUsage = u, true
	}
	s.done = typ == s.end
	s.sum.Text = s.sum.Text || s.done || bytes.HasSuffix([]byte(typ), deltaInName)
	return nil
}

// Done implements [Stream].
func (s *PassedStream) Done() bool { return s.done }

// Close implements [Stream].
func (s *PassedStream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	return CloseStream(dst, s.done, s.sum.Err, failure, s.fail)
}

// Summary implements [Stream].
func (s *PassedStream) Summary() Summary { return s.sum }

// fail ends the stream with the error event that the SDKs read.
func (s *PassedStream) fail(dst []byte, e *apierror.Error) []byte {
	s.done, s.sum.Err = true, e
	return AppendStreamError(dst, e)
}
