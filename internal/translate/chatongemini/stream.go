package chatongemini

import (
	"errors"
	"io"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// maxBatch is how many events are taken before their chunks are read.
const maxBatch = 16

// buffers are for chunks: a stream that waits for its provider has none.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// stream is an answer as the event stream of a chat completion.
type stream struct {
	answer answer
	call   openai.Call
	chat   *openai.ChatStream
	client completion.Stream // writes to it
	buffer *[]byte           // of out, nil for none
	out    []byte            // chunks, of which those before at were read
	at     int
	err    error // what follows them, nil before the end
}

// Stream returns the chat stream of an answer. It begins with the role at the first content, so that an
// answer which fails before can still become a status. A failure that the provider reports is an error
// event; an answer that is cut has no end. Both have their usage before it, for the charge.
func (o *Original) Stream(body io.Reader, call openai.Call, again translate.Again) io.Reader {
	s := &stream{call: call}
	s.call.IncludeUsage = true
	s.chat = openai.NewChatStream(s.call)
	s.client = completion.NewStream(o.functions, s.chat)
	s.client.Chunks.Alike = true
	s.answer = o.read(body, &s.call, again, &s.client.Chunks, false)
	return s
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	for s.at == len(s.out) {
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
	n := copy(p, s.out[s.at:])
	if s.at += n; s.at == len(s.out) {
		if *s.buffer = s.out[:0]; cap(s.out) <= translate.MaxScratch {
			buffers.Put(s.buffer)
		}
		s.buffer, s.out, s.at = nil, nil, 0
	}
	return n, nil
}

// fill takes the next event, and those that have come with it.
func (s *stream) fill() {
	event, err := s.answer.events.Next()
	if s.buffer == nil {
		s.buffer = buffers.Get().(*[]byte)
	}
	s.client.Resume(*s.buffer)
	s.err = s.answer.take(event, err)
	for took, n := true, 1; took && s.err == nil && n < maxBatch; n++ {
		took, s.err = s.answer.nextReceived()
	}
	if s.err == io.EOF {
		s.client.Chunks.Finish(s.answer.reader.ending)
	}
	s.out = s.client.Pause(nil)
	if s.err != nil {
		s.end()
	}
}

// end writes the end of the stream.
func (s *stream) end() {
	defer s.chat.Release() // nothing more is written
	r := &s.answer.reader
	s.answer.close()
	if s.err == io.EOF {
		s.out, s.err = s.client.Close(s.out, nil, true)
		if s.err == nil {
			s.err = io.EOF
		}
		return
	}
	if usage, ok := r.usage.all(); ok {
		s.out = translate.AppendUsage(append(s.out, `data: {"choices":[],"usage":`...), usage)
		s.out = append(s.out, "}\n\n"...)
	}
	var reported *failed
	switch {
	case errors.As(s.err, &reported):
		s.out = append(append(append(s.out, "data: "...), reported.body...), "\n\n"...)
		s.err = io.EOF
	case errors.Is(s.err, openai.ErrCut):
		s.err = io.EOF
	}
}
