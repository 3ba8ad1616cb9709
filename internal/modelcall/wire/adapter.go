package wire

import (
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// adapter makes providers with a protocol of their own look like providers of an API: it writes a
// request of the API, which is in body, in their protocol. The rest of a call sees an answer of the API.
//
//	caller --Route.Encode--> request of the API --adapter--> request of the provider
//	caller <--Sending.Answer-- answer of the API <--Adapted-- answer of the provider
//
// The error is a 400 in the words of the API.
type adapter func(e *Encoding, body *jsonscan.Body) (*Adapted, error)

// adapters are those of each dialect, by the API that it looks like.
var adapters = map[string]map[provider.Operation]adapter{}

// Adapted is a request in the protocol of its provider.
type Adapted struct {
	Body   [][]byte
	Header http.Header // in addition to the provider's own; nil for none
	Query  string      // likewise
	Stream bool        // the provider is asked for a stream, whatever the caller asked for

	leftOut []string
	call    openai.Call
	answer  answerReader
}

// answerReader makes answers of an API out of a provider's. Again sends another request in the same
// attempt.
type answerReader interface {
	// Stream returns the event stream of the API. What the provider reports as an error becomes an
	// error event; a stream that is cut has no end.
	Stream(body io.Reader, call openai.Call, again translate.Again) io.Reader
	// Whole returns an answer of the API in one piece.
	Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error)
	// Refusal returns what the provider refused as OpenAI would have said it.
	Refusal(status int, header http.Header, body []byte) translate.Refusal
}

// adapted is the request of the API w for a provider with another protocol, nil if the provider has
// the API itself.
func (e *Encoding) adapted(w *Wire, body *jsonscan.Body, answer Answer) (*Sending, error) {
	adapt := e.adapter(w)
	if adapt == nil {
		return nil, nil
	}
	a, err := adapt(e, body)
	if err != nil {
		return nil, err
	}
	a.call = e.Answer
	return &Sending{
		Wire: w, Body: a.Body, Header: a.Header, Query: a.Query, Stream: e.Asked.Stream, Answer: answer,
		LeftOut: a.leftOut, Adapted: a,
	}, nil
}

func (e *Encoding) adapter(w *Wire) adapter { return adapters[e.Provider.Dialect.Name()][w.Name] }

// adaptedBytes is adapted for a request that a translation wrote.
func (e *Encoding) adaptedBytes(w *Wire, body []byte, answer Answer) (*Sending, error) {
	if e.adapter(w) == nil {
		return nil, nil
	}
	var b jsonscan.Body
	defer b.Release()
	if err := request.InvalidJSON(b.Parse(body)); err != nil {
		return nil, err
	}
	return e.adapted(w, &b, answer)
}

// Refusal returns what the provider refused as OpenAI would have said it.
func (a *Adapted) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	return a.answer.Refusal(status, header, body)
}

// Read returns an answer of the API in place of the provider's: a stream if the caller asked for one.
func (a *Adapted) Read(body io.Reader, stream bool, again translate.Again) io.Reader {
	if stream {
		return a.answer.Stream(body, a.call, again)
	}
	return &wholeReader{read: func() ([]byte, error) { return a.answer.Whole(body, a.call, again) }}
}

// wholeReader reads an answer when it is first asked for it.
type wholeReader struct {
	read func() ([]byte, error) // nil after it was called
	rest []byte
	err  error
}

func (r *wholeReader) Read(p []byte) (int, error) {
	if r.read != nil {
		r.rest, r.err = r.read()
		r.read = nil
	}
	n := copy(p, r.rest)
	if r.rest = r.rest[n:]; len(r.rest) > 0 || n > 0 {
		return n, nil
	}
	if r.err == nil {
		r.err = io.EOF
	}
	return 0, r.err
}
