package responsesocket

import (
	"bytes"
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// The types of client events.
const (
	typeCreate    = "response.create"
	typeSteer     = "response.steer"
	typeProcessed = "response.processed" // an acknowledgement, which nobody needs
)

// frame is a client event that was read and asks for a response.
type frame struct {
	upload *upload.Upload // has data and its memory
	body   jsonscan.Body
	ask    ask
}

// ask is what the gateway itself reads of a response.create.
type ask struct {
	model     string
	previous  string // previous_response_id
	elsewhere bool   // conversation: a provider has what was said before
	input     int    // index of the member, -1 for none
	warmUp    bool   // generate: false
	unstored  bool   // store: false
}

// release gives the memory of a frame back.
func (f *frame) release() {
	f.body.Release()
	f.upload.Close()
}

// maxName bounds a text of the client in an error, in bytes.
const maxName = 64

// parse reads a client event. It returns its type, one that is known; an error is a refusal.
func (f *frame) parse(data []byte) (name string, err error) {
	if err := request.InvalidJSON(f.body.Parse(data)); err != nil {
		return "", err
	}
	i, ok := f.body.Find("type")
	if !ok {
		return "", apierror.New(apierror.MissingParameter, "the event has no type: send %q", typeCreate).WithParam("type")
	}
	switch name, _ = jsonscan.String(f.body.Value(i)); name {
	case typeCreate:
		f.ask, err = readAsk(&f.body)
	case typeSteer, typeProcessed:
	default:
		err = apierror.New(apierror.InvalidValue, "events of type %q are not known here: send %q",
			name[:min(len(name), maxName)], typeCreate).WithParam("type")
	}
	return name, err
}

// readAsk reads a response.create. It drops what only sockets have, or what a body need not say,
// and asks for a stream.
func readAsk(b *jsonscan.Body) (a ask, err error) {
	a.input = -1
	for i, m := range b.Members() {
		value := b.Value(i)
		switch name := string(m.Key(b.Data())); name {
		case "type", "stream":
			b.Drop(i)
		case "generate":
			b.Drop(i)
			if value[0] != 't' && value[0] != 'f' {
				return a, apierror.New(apierror.InvalidValue, "generate must be true or false").WithParam(name)
			}
			a.warmUp = value[0] == 'f'
		case "model":
			a.model, _ = jsonscan.String(value) // else the call says what is wrong
		case "input":
			a.input = i
		case "store":
			a.unstored = value[0] == 'f'
		case "conversation":
			a.elsewhere = !jsonscan.IsNull(value)
		case "previous_response_id":
			a.previous, _ = jsonscan.String(value)
		case "stream_id":
			return a, apierror.New(apierror.InvalidStreamID,
				"stream_id is not supported: a connection has one response at a time; open another connection").WithParam(name)
		case "background":
			if value[0] == 't' {
				return a, apierror.New(apierror.UnsupportedParameter, "background is not possible over WebSocket").WithParam(name)
			}
		}
	}
	b.Add("stream", []byte("true"))
	return a, nil
}

// elements returns the input of a frame as the elements of an array, without its brackets. Ok is
// false for an input that the call will refuse.
func elements(b *jsonscan.Body, input int) (items []byte, ok bool) {
	if input < 0 {
		return nil, true
	}
	switch value := b.Value(input); value[0] {
	case '[':
		return bytes.TrimSpace(value[1 : len(value)-1]), true
	case '"':
		items = append(append([]byte(`{"type":"message","role":"user","content":`), value...), '}')
		return items, true
	}
	return nil, false
}

// pieces is a request body in pieces, that are not copied. Done is called at its end.
type pieces struct {
	left [][]byte
	done func()
}

func newPieces(all [][]byte, done func()) (p *pieces, size int64) {
	for _, piece := range all {
		size += int64(len(piece))
	}
	return &pieces{all, done}, size
}

func (p *pieces) Read(dst []byte) (n int, err error) {
	for len(p.left) > 0 && n < len(dst) {
		copied := copy(dst[n:], p.left[0])
		n += copied
		if p.left[0] = p.left[0][copied:]; len(p.left[0]) == 0 {
			p.left = p.left[1:]
		}
	}
	if len(p.left) > 0 || n > 0 {
		return n, nil
	}
	_ = p.Close()
	return 0, io.EOF
}

// Close implements [io.Closer].
func (p *pieces) Close() error {
	if p.left = nil; p.done != nil {
		p.done()
		p.done = nil
	}
	return nil
}
