package chatongemini

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

const (
	// maxEvent bounds one event of the provider, in bytes: an inline image has a few MB.
	maxEvent = 16 << 20

	// maxHops bounds the requests that continue one answer; with 65,536 tokens each they are more
	// than any model writes. maxIdleHops is how many of them in a row may bring nothing, as in
	// Google's SDKs.
	maxHops     = 64
	maxIdleHops = 3
)

// answer reads the events of an answer. A model ends a request after so many tokens, and the answer goes
// on in the next one:
//
//	request → events … finishReason CONTINUATION, continuationToken
//	request + continuationToken → events … finishReason STOP
type answer struct {
	reader reader
	again  translate.Again
	events sse.Reader
	hop    io.Closer // the body of a further request, nil for the first
	hops   int       // further requests so far
	idle   int       // the last requests that brought nothing
	parts  int       // of the answer, before the request that is read
}

// read begins to read an answer. Whole says that it is written when it is complete.
func (o *Original) read(body io.Reader, call *openai.Call, again translate.Again, to writer, whole bool) answer {
	a := answer{again: again, reader: reader{call: call, original: o, to: to, whole: whole}}
	a.begin(body)
	return a
}

// begin begins with a body. An error may stand at its end without the blank line that ends an event.
func (a *answer) begin(body io.Reader) {
	a.events.Reset(io.MultiReader(body, strings.NewReader("\n\n")), maxEvent)
}

// next takes one event. The error is io.EOF after the last one of a whole answer, [openai.ErrCut] if the
// provider's stream ended before, a *failed for what the provider reports, or what is wrong.
func (a *answer) next() error { return a.take(a.events.Next()) }

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
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil
	}
	return a.reader.event(event.Raw, data)
}

// nextReceived is next for an event that has come. It is false if there is none.
func (a *answer) nextReceived() (took bool, err error) {
	if size := a.reader.repeat(a.events.Received()); size > 0 {
		a.events.Skip(size)
		return true, nil
	}
	if !a.events.Buffered() {
		return false, nil
	}
	return true, a.next()
}

// endHop ends the events of one request: it sends the next one, or ends the answer.
func (a *answer) endHop() error {
	a.close()
	r := &a.reader
	if r.finish.reason == "" {
		return openai.ErrCut
	}
	if a.idle++; r.parts > a.parts {
		a.idle, a.parts = 0, r.parts
	}
	token := r.finish.token
	if r.finish.reason != continued || token == nil || r.original.body == nil || a.idle == maxIdleHops || a.hops == maxHops {
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

// close releases the memory of the events of a request, and closes a further one.
func (a *answer) close() {
	a.events.Release()
	if a.hop != nil {
		_ = a.hop.Close()
		a.hop = nil
	}
}

// Whole returns the whole chat completion of an answer, or an object with the error that the provider
// reports in it.
func (o *Original) Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error) {
	message := completion.NewMessage(o.functions)
	a := o.read(body, &call, again, message, true)
	defer a.close()
	for {
		err := a.next()
		var reported *failed
		switch {
		case err == nil:
		case err == io.EOF:
			return message.Append(nil, nil, nil, a.reader.ending), nil
		case errors.As(err, &reported):
			return reported.body, nil
		case errors.Is(err, openai.ErrCut):
			return nil, translate.ProviderFailure(&call, "broke off its answer").WithCause(err)
		default:
			return nil, err
		}
	}
}

// failed is what the provider reports in place of an answer or of its rest, as an object with an error.
type failed struct{ body []byte }

func (f *failed) Error() string { return "the provider failed" }

// errorBody returns an error in OpenAI's form. Its code is the status that it would have: an event has
// no other.
func errorBody(status int, typ, message string) []byte {
	out := jsonscan.AppendString([]byte(`{"error":{"message":`), message)
	out = translate.AppendTextMember(out, "type", []byte(typ))
	return append(translate.AppendIntMember(out, "code", int64(status)), "}}"...)
}
