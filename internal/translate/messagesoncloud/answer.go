package messagesoncloud

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
)

// Answer makes answers of the Messages API of a platform's. One in one piece is Anthropic's.
type Answer struct {
	platform *Platform
	refusal  func(status int, header http.Header, body []byte) translate.Refusal
}

// Answer returns the answers of a platform. Refusal reads its own errors, because not all are
// Anthropic's; nil for those of AWS.
func (p *Platform) Answer(refusal func(status int, header http.Header, body []byte) translate.Refusal) *Answer {
	if refusal == nil {
		refusal = aws.Refusal
	}
	return &Answer{p, refusal}
}

// Stream returns the server-sent events of a stream.
func (a *Answer) Stream(body io.Reader, call openai.Call, _ translate.Again) io.Reader {
	if !a.platform.frames {
		return body
	}
	return &events{frames: aws.NewReader(body), call: call}
}

// Refusal returns an error in Anthropic's form as it is.
func (a *Answer) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	if e := openai.ParseProviderError(body); e.Anthropic {
		return translate.Refusal{Status: status, Body: body}
	}
	return a.refusal(status, header, body)
}

// events makes server-sent events of Bedrock's frames:
//
//	event "chunk", {"bytes": base64 of Anthropic's event, "p": padding}
type events struct {
	frames *aws.Reader
	call   openai.Call
	out    []byte // of which those before at were read
	at     int
	text   []byte // of an event, decoded
	err    error
}

// Read implements [io.Reader].
func (e *events) Read(p []byte) (int, error) {
	for e.at == len(e.out) {
		if e.err != nil {
			return 0, e.err
		}
		if cap(e.out)+cap(e.text) > translate.MaxScratch {
			e.out, e.text = nil, nil
		}
		e.out, e.at = e.out[:0], 0
		e.err = e.next()
	}
	n := copy(p, e.out[e.at:])
	e.at += n
	return n, nil
}

// next takes a frame. A stream that is cut has no end, which is seen without message_stop.
func (e *events) next() error {
	f, err := e.frames.Next()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.EOF
	case err != nil && !errors.Is(err, aws.ErrFrame): // the end, a timeout, or the client has left
		return err
	case err != nil:
		return translate.ProviderFailure(&e.call, "sent a frame that cannot be read").WithCause(err)
	case f.Failed:
		e.fail(f)
		return io.EOF
	case f.Name != "chunk":
		return nil
	}
	encoded, _ := jsonscan.String(translate.Member(f.Payload, "bytes"))
	if e.text, err = base64.StdEncoding.AppendDecode(e.text[:0], []byte(encoded)); err != nil {
		return translate.ProviderFailure(&e.call, "sent an event that is not in base64").WithCause(err)
	}
	return e.event(e.text)
}

// metrics is what Bedrock adds to the last event.
const metrics = "amazon-bedrock-invocationMetrics"

// event writes an event, under its type, without what Bedrock adds.
func (e *events) event(data []byte) error {
	members, err := jsonscan.Lenient(data, nil)
	if err != nil {
		return translate.ProviderFailure(&e.call, "answered what is not JSON").WithCause(err)
	}
	name := ""
	patch := jsonscan.NewPatch(data, members)
	for i, m := range members {
		switch string(m.DecodedKey(data)) {
		case "type":
			name, _ = jsonscan.String(m.Value(data))
		case metrics:
			patch.Drop(i)
		}
	}
	if name == "" || len(name) > maxName || strings.ContainsAny(name, "\r\n") {
		return translate.ProviderFailure(&e.call, "sent an event without a type")
	}
	e.out = fmt.Appendf(e.out, "event: %s\ndata: ", name)
	begin := len(e.out)
	e.out = patch.Append(e.out)
	for i, c := range e.out[begin:] {
		if c == '\n' || c == '\r' { // between members: the data is one line
			e.out[begin+i] = ' '
		}
	}
	e.out = append(e.out, "\n\n"...)
	return nil
}

// maxName bounds the type of an event, in bytes; the longest known has 19.
const maxName = 64

// fail writes the error that ends the stream, as Anthropic does.
func (e *events) fail(f aws.Frame) {
	failure := f.Failure()
	typ := cmp.Or(failure.Type, "api_error")
	e.out = append(e.out, `event: error`+"\n"+`data: {"type":"error","error":{`...)
	e.out = translate.AppendTextMember(e.out, "type", []byte(typ))
	e.out = append(translate.AppendKey(e.out, "message"), jsonscan.AppendString(nil, failure.Message)...)
	e.out = append(e.out, "}}\n\n"...)
}
