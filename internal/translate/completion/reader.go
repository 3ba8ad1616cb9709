package completion

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Source reads the events of a provider's answer and gives their content to a [translate.Content].
type Source interface {
	// Await waits for the next event.
	Await()
	// Take takes the event that was waited for. The error is io.EOF after the last one of a whole
	// answer, [openai.ErrCut] if the provider's stream ended before, a [*Reported] for what the
	// provider says of a failure, or what is wrong.
	Take() error
	// TakeReceived takes an event that has come. It is false if there is none.
	TakeReceived() (took bool, err error)
	// Ending is that of a whole answer.
	Ending() Ending
	// Usage is what the provider has reported so far; false for none.
	Usage() (openai.Usage, bool)
	Close()
}

// Reported is what a provider reports in place of an answer or of its rest: an object with an error
// in OpenAI's form.
type Reported struct{ Body []byte }

// Error makes it an error of a [Source].
func (*Reported) Error() string { return "the provider failed" }

// Whole returns what [End] does of a source that writes to the message.
func Whole(s Source, m *Message, call *openai.Call) ([]byte, error) {
	defer s.Close()
	for {
		s.Await()
		err := s.Take()
		for took := true; took && err == nil; {
			took, err = s.TakeReceived()
		}
		if err == nil {
			continue
		}
		if errors.Is(err, openai.ErrCut) {
			err = translate.ProviderFailure(call, "broke off its answer").WithCause(err)
		}
		e := s.Ending()
		e.Usage, e.HasUsage = s.Usage()
		return End(m, e, err)
	}
}

// End returns what a whole answer becomes that ended with io.EOF or failed: the chat completion; an
// object with the error that the provider reports, and with the usage; or an object with the usage
// and behind it the error.
func End(m *Message, e Ending, err error) ([]byte, error) {
	if err == io.EOF {
		return m.Append(nil, nil, nil, e), nil
	}
	out := []byte{'{'}
	var reported *Reported
	if errors.As(err, &reported) {
		out, err = bytes.Clone(reported.Body[:len(reported.Body)-1]), nil
	}
	if usage := e.usage(); usage != nil {
		out = translate.AppendMember(out, "usage", usage)
	}
	return append(out, '}'), err
}

const (
	// bufferSize is the size of a buffer for chunks, and of the one that they are read into: chunks
	// that are read together are written to the client together.
	bufferSize = 32 << 10

	// maxBatch is from how many bytes of chunks on no more events are taken before they are read.
	maxBatch = bufferSize * 3 / 4
)

// buffers are for chunks: a stream that waits for its provider has none.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, bufferSize); return &b }}

// Reader is an answer as the event stream of a chat completion.
type Reader struct {
	source Source
	call   openai.Call
	chat   *openai.ChatStream
	chunks *Chunks // write to it
	client Stream  // likewise
	buffer *[]byte // of out, nil for none
	out    []byte  // chunks, of which those before at were read
	at     int
	err    error // what follows them, nil before the end
}

// NewReader returns the chat stream of a source, which gets the call and what it writes to. The
// stream begins with the role at the first content, so that an answer which fails before can still
// become a status. A failure that the provider reports is an error event; an answer that is cut has
// no end. Both have their usage before it, for the charge.
func NewReader(functions translate.Functions, call openai.Call, source func(*openai.Call, *Chunks) Source) *Reader {
	r := &Reader{call: call}
	r.call.IncludeUsage = true
	r.chat = openai.NewChatStream(r.call)
	to := newTarget(functions, r.chat)
	r.chunks, r.client = &to.chunks, Stream{To: to}
	r.chunks.Alike = true
	r.source = source(&r.call, r.chunks)
	return r
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	for r.at == len(r.out) {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.out[r.at:])
	if r.at += n; r.at == len(r.out) {
		if *r.buffer = r.out[:0]; cap(r.out) <= bufferSize {
			buffers.Put(r.buffer)
		}
		r.buffer, r.out, r.at = nil, nil, 0
	}
	return n, nil
}

// Kept returns how many bytes of chunks are held.
func (r *Reader) Kept() int { return cap(r.out) }

// fill takes the next event, and those that have come with it.
func (r *Reader) fill() {
	r.source.Await()
	if r.buffer == nil {
		r.buffer = buffers.Get().(*[]byte)
	}
	r.client.Resume(*r.buffer)
	r.err = r.source.Take()
	for took := true; took && r.err == nil && len(r.chunks.out) < maxBatch; {
		took, r.err = r.source.TakeReceived()
	}
	if r.err == io.EOF {
		r.chunks.finish(r.source.Ending())
	}
	r.out = r.client.Pause(nil)
	if r.err != nil {
		r.end()
	}
}

// end writes the end of the stream.
func (r *Reader) end() {
	defer r.chat.Release() // nothing more is written
	usage, some := r.source.Usage()
	r.source.Close()
	if r.err == io.EOF {
		r.out, r.err = r.client.Close(r.out, nil, true)
		if r.err == nil {
			r.err = io.EOF
		}
		return
	}
	if some {
		r.out = translate.AppendUsage(append(r.out, `data: {"choices":[],"usage":`...), usage)
		r.out = append(r.out, "}\n\n"...)
	}
	var reported *Reported
	switch {
	case errors.As(r.err, &reported):
		r.out = append(append(append(r.out, "data: "...), reported.Body...), "\n\n"...)
		r.err = io.EOF
	case errors.Is(r.err, openai.ErrCut):
		r.err = io.EOF
	}
}
