// Package adapter makes providers with a protocol of their own look like providers of chat completions,
// of embeddings or of the Messages API. The rest of a call sees an answer of that API. A count of tokens
// takes the chat request.
//
//	request of the API --Adapter--> request of the provider
//	answer of the API <--Adapted--- answer of the provider
package adapter

import (
	"io"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Request is a request of an API.
type Request struct {
	*conversation.Request
	Caller   http.Header
	Stream   bool   // the caller asked for a stream
	Model    string // as the provider calls it
	Base     string // the model whose rules hold: that of a deployment, or Model
	Provider *provider.Provider
	Output   int64 // the output limit that the provider must be told; 0: the caller's own
	Call     openai.Call
}

// Adapter writes a request of an API in the protocol of a provider. The error is a 400 in the words of
// the API.
type Adapter func(r *Request) (*Adapted, error)

// Dialect is a kind of provider with a protocol of its own.
type Dialect struct {
	*provider.Dialect
	// Adapters are those of the APIs that its providers look like they had.
	Adapters map[provider.Operation]Adapter
	// Requests returns how many requests a chat answer of so many tokens may take. Each of them is
	// billed for the prompt. Nil: one.
	Requests func(output int64) int64
}

// registered are the dialects of the build, with what they are at some addresses.
var registered = map[*provider.Dialect]*Dialect{}

// Register adds dialects to those that a provider block can name. It must be called before the
// program begins.
func Register(dialects ...Dialect) {
	for i := range dialects {
		d := &dialects[i]
		provider.Register(d.Dialect)
		registered[d.Dialect] = d
		for _, variant := range d.Variants {
			registered[variant] = d
		}
	}
}

// Of returns the adapter of a provider for an API, nil if it has the API itself.
func Of(p *provider.Provider, api provider.Operation) Adapter {
	if d := registered[p.Dialect]; d != nil {
		return d.Adapters[api]
	}
	return nil
}

// Requests returns how many requests an answer of so many tokens may take at a provider, for an API
// that it is made to look like.
func Requests(p *provider.Provider, api provider.Operation, output int64) int64 {
	if d := registered[p.Dialect]; d != nil && d.Requests != nil && api == provider.Chat {
		return d.Requests(output)
	}
	return 1
}

// Adapted is a request in the protocol of its provider.
type Adapted struct {
	Body    [][]byte
	Header  http.Header // in addition to the provider's own; nil for none
	Query   string      // likewise
	Stream  bool        // the provider is asked for a stream, whatever the caller asked for
	LeftOut []string    // fields that the provider did not get, as the API calls them

	Call openai.Call
	From Answer
}

// Answer turns a provider's answer into one of the API. Again sends another request in the same
// attempt. One with a method Whole, see [Adapted.Answer], makes answers in one piece, too.
type Answer interface {
	// Stream returns the event stream of the API. What the provider reports as an error becomes an
	// error event; a stream that is cut has no end.
	Stream(body io.Reader, call openai.Call, again translate.Again) io.Reader
	// Refusal returns what the provider refused as OpenAI would have said it.
	Refusal(status int, header http.Header, body []byte) translate.Refusal
}

// whole makes an answer in one piece. One that has no such method is given as it comes: who reads it
// accounts for its memory.
type whole interface {
	// Whole returns an answer of the API in one piece.
	Whole(body io.Reader, call openai.Call, again translate.Again) ([]byte, error)
}

// Received takes the header of a provider's answer before its body is read: some say there what the answer
// used.
func (a *Adapted) Received(header http.Header) {
	if to, ok := a.From.(interface{ Received(http.Header) }); ok {
		to.Received(header)
	}
}

// Refusal returns what the provider refused as OpenAI would have said it.
func (a *Adapted) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	return a.From.Refusal(status, header, body)
}

// Answer returns an answer of the API in place of the provider's: a stream if the caller asked for one.
func (a *Adapted) Answer(body io.Reader, stream bool, again translate.Again) io.Reader {
	if stream {
		return a.From.Stream(body, a.Call, again)
	}
	if made, ok := a.From.(whole); ok {
		return &wholeReader{read: func() ([]byte, error) { return made.Whole(body, a.Call, again) }}
	}
	return body
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
	if n := copy(p, r.rest); n > 0 {
		r.rest = r.rest[n:]
		return n, nil
	}
	if r.err == nil {
		r.err = io.EOF
	}
	return 0, r.err
}
