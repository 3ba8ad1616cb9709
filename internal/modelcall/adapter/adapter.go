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
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
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

// adapters are those of each protocol, by the API that its providers look like.
var adapters = map[provider.Protocol]map[provider.Operation]Adapter{
	provider.GenerateContentAPI: {
		provider.Chat: geminiChat, provider.CountTokens: geminiCount, provider.Embeddings: geminiEmbeddings,
		provider.GenerateContent: geminiNative, provider.CountContent: geminiNative,
		provider.EmbedContent: geminiNative, provider.BatchEmbedContents: geminiNative,
	},
	provider.RawPredict: {
		provider.Messages:    claude(messagesoncloud.Vertex, chatongemini.Refusal),
		provider.CountTokens: claude(messagesoncloud.VertexCount, chatongemini.Refusal),
	},
	provider.Converse: {provider.Chat: converse, provider.CountTokens: converseCount, provider.Embeddings: bedrockEmbeddings},
	provider.InvokeModel: {
		provider.Messages: claude(messagesoncloud.Bedrock, nil), provider.CountTokens: claudeCount,
	},
}

// Of returns the adapter of a provider for an API, nil if it has the API itself.
func Of(p *provider.Provider, api provider.Operation) Adapter {
	return adapters[p.Dialect.Protocol()][api]
}

// Adapted is a request in the protocol of its provider.
type Adapted struct {
	Body    [][]byte
	Header  http.Header // in addition to the provider's own; nil for none
	Query   string      // likewise
	Stream  bool        // the provider is asked for a stream, whatever the caller asked for
	LeftOut []string    // fields that the provider did not get, as the API calls them

	call   openai.Call
	answer answer
}

// answer turns a provider's answer into one of the API. Again sends another request in the same attempt.
type answer interface {
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
	if to, ok := a.answer.(interface{ Received(http.Header) }); ok {
		to.Received(header)
	}
}

// Refusal returns what the provider refused as OpenAI would have said it.
func (a *Adapted) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	return a.answer.Refusal(status, header, body)
}

// Answer returns an answer of the API in place of the provider's: a stream if the caller asked for one.
func (a *Adapted) Answer(body io.Reader, stream bool, again translate.Again) io.Reader {
	if stream {
		return a.answer.Stream(body, a.call, again)
	}
	if made, ok := a.answer.(whole); ok {
		return &wholeReader{read: func() ([]byte, error) { return made.Whole(body, a.call, again) }}
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
