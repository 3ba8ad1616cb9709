package chatongemini

import (
	"bytes"
	"io"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

const (
	// maxEvent bounds one event of the provider, in bytes: an inline image has a few MB.
	maxEvent = 16 << 20

	// maxIdleHops is how many further requests in a row may bring nothing, as in Google's SDKs.
	maxIdleHops = 3
)

// answer reads the events of an answer. A model ends a request after so many tokens, and the answer
// goes on in the next one:
//
//	request → events … finishReason CONTINUATION, continuationToken
//	request + continuationToken → events … finishReason STOP
type answer struct {
	reader reader
	again  translate.Again
	events sse.Reader
	shapes openai.Events
	event  sse.Event // that was waited for
	err    error     // instead of it
	hop    io.Closer // the body of a further request, nil for the first
	hops   int       // further requests so far
	idle   int       // the last requests that brought nothing
	parts  int       // of the answer, before the request that is read
	waited bool      // for the end of the body, behind a finishReason
}

// read begins to read an answer. Whole says that it is written when it is complete.
func (o *Original) read(body io.Reader, call *openai.Call, again translate.Again, to writer, whole bool) *answer {
	a := &answer{again: again, reader: reader{call: call, original: o, to: to, whole: whole}}
	a.begin(body)
	return a
}

// begin begins with a body. An error may stand at its end without the blank line that ends an
// event.
func (a *answer) begin(body io.Reader) {
	a.events.Reset(io.MultiReader(body, strings.NewReader("\n\n")), maxEvent)
}

// Await, Take, Ending and Usage implement [completion.Source].
func (a *answer) Await()                      { a.event, a.err = a.events.Next() }
func (a *answer) Take() error                 { return a.take(a.event, a.err) }
func (a *answer) Ending() completion.Ending   { return a.reader.ending }
func (a *answer) Usage() (openai.Usage, bool) { return a.reader.usage.all() }

func (a *answer) take(event sse.Event, err error) error {
	switch {
	case err == io.EOF:
		return a.endHop()
	case err != nil:
		return err
	case event.Comment:
		return nil
	}
	data := event.Data
	if data == nil { // an error in lines of its own
		data = event.Raw
	}
	e := a.shapes.Next(event.Name, data)
	defer e.Release()
	if len(e.Data) == 0 || e.Data[0] != '{' && e.Data[0] != '[' {
		return nil
	}
	return a.reader.event(e)
}

// TakeReceived implements [completion.Source]. Behind a finishReason the end of the body follows at
// once: it is waited for, so that the end of an answer is one write. Some models have said STOP in
// each event, so this is done once.
func (a *answer) TakeReceived() (took bool, err error) {
	if e, size := a.shapes.Repeated(a.events.Received()); size > 0 {
		defer e.Release()
		a.events.Skip(size)
		return true, a.reader.event(e)
	}
	if reason := a.reader.finish.reason; !a.events.Buffered() {
		if a.waited || reason == "" || reason == gemini.Continued {
			return false, nil
		}
		a.waited = true
	}
	return true, a.take(a.events.Next())
}

// endHop ends the events of one request: it sends the next one, or ends the answer.
func (a *answer) endHop() error {
	a.Close()
	r := &a.reader
	if r.finish.reason == "" {
		return openai.ErrCut
	}
	if a.idle++; r.parts > a.parts {
		a.idle, a.parts = 0, r.parts
	}
	token := r.finish.token
	if r.finish.reason != gemini.Continued || token == nil || a.idle == maxIdleHops || a.hops == r.original.hops {
		return r.end()
	}
	a.hops++
	r.nextHop()
	body, err := a.again(r.original.continuedBy(token))
	if err != nil {
		return err
	}
	a.hop = body
	a.begin(body)
	return nil
}

// continuedBy returns the request that goes on after the one with this token.
func (o *Original) continuedBy(token []byte) []byte {
	first := bytes.TrimSuffix(o.body, []byte("}"))
	return append(translate.AppendTextMember(bytes.Clone(first), "continuationToken", token), '}')
}

// Close releases the memory of the events of a request, and closes a further one.
func (a *answer) Close() {
	a.events.Release()
	if a.hop != nil {
		_ = a.hop.Close()
		a.hop = nil
	}
}

// Whole returns the whole chat completion of an answer, or an object with the error that the
// provider reports in it.
func (o *Original) Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error) {
	message := completion.NewMessage(o.functions)
	return completion.Whole(o.read(body, &call, again, message, true), message, &call)
}

// Stream returns the chat stream of an answer.
func (o *Original) Stream(body io.Reader, call openai.Call, again translate.Again) io.Reader {
	return completion.NewReader(o.functions, call, func(call *openai.Call, to *completion.Chunks) completion.Source {
		return o.read(body, call, again, to, false)
	})
}

// errorBody returns an error in OpenAI's form. Its code is the status that it would have: an event
// has no other.
func errorBody(status int, typ, message string) []byte {
	out := jsonscan.AppendString([]byte(`{"error":{"message":`), message)
	out = translate.AppendTextMember(out, "type", []byte(typ))
	return append(translate.AppendIntMember(out, "code", int64(status)), "}}"...)
}
