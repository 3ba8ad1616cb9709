// Package faults is the test provider for tests: a server that answers as the
// caller wants it, well or badly, and keeps what it received. The writers of
// answers are those of package answers; here is what tests need on top. No product
// code imports it.
//
//	p := faults.New()
//	srv := httptest.NewServer(p)
//	… ask for the model "cut-clean" …
//	p.Requests()                       // what arrived
//
// It speaks the OpenAI API under /v1 and the OpenRouter API under /api/v1 (chat
// completions, Responses, embeddings, sound, model lists), and the Messages API of
// Anthropic under both. The model name chooses the behaviour:
// the part after the last slash, up to a colon, so "echo", "acme/echo" and
// "acme/echo:free" are the same. Names are in [Behaviours]; those that take an
// argument are
//
//	err-NNN, err-NNN-CODE   status NNN (400 to 599) with an error body
//	step-ID, stall-ID       wait for tokens given to "step-ID" or "stall-ID";
//	hang-ID, late-ID        so do these
//	cut-N[-reset|-clean]    the stream is cut after N events
//	silent-N                the stream is silent after N events, until a token
//	delayed-headers-MS      nothing, not even a status line, for MS milliseconds
//	NAME-agent              as "agent", under a name that a client knows
//	paced-N-MS, burst-N     N events MS apart, or in one write; they always stream
//	after-S-NAME            as NAME, with Retry-After S, or without it: after-none-NAME
//	first-N-NAME            as NAME for the first N calls of this model, then "echo"
//
// A test may also change what a model does: [Provider.Become].
//
// Under /responses-only/v1 the OpenAI API is there without chat completions.
// When the provider runs in a process of its own, GET /_control/requests shows the
// record, GET /_control/clouds what clouds received as it was sent, and POST /_control/become, step and reset do what the methods do. Nothing here may meet a network: listen on loopback.
package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/realtimetest"
)

const (
	// maxBody bounds a request body: twice the largest body that tests send.
	maxBody = 64 << 20
	// readHeaderTimeout frees connections on which no request ever arrives.
	readHeaderTimeout = 30 * time.Second
)

// ResponsesOnlyPrefix stands before the paths of a provider that has no chat
// completions.
const ResponsesOnlyPrefix = "/responses-only/v1"

// Provider is the server. Its methods may be called from any goroutine; its
// fields may not change once it serves.
type Provider struct {
	// Now is the clock of "created" fields and of the record. Default: [time.Now].
	Now func() time.Time
	// Unrecorded keeps nothing of what arrives, for long tests.
	Unrecorded bool
	// Gemini is the provider in Google's protocol, below /gemini.
	Gemini *clouds.Gemini
	// Claude is the provider as Vertex AI and Bedrock have Claude, below /claude.
	Claude *clouds.Claude
	// Converse is the provider as Bedrock has others, below /bedrock.
	Converse *clouds.Converse
	// Tokens gives the tokens of clouds, below /tokens.
	Tokens *clouds.Tokens

	log      *recorder
	gates    *gates
	stored   *responseStore
	models   modelList
	attempts attempts
	serial   atomic.Int64
	mux      *http.ServeMux
}

// New returns a provider that records.
func New() *Provider {
	p := &Provider{Now: time.Now, gates: newGates(), stored: newResponseStore(), mux: http.NewServeMux()}
	p.log = newRecorder(func() time.Time { return p.Now() })
	for _, a := range []api{openAI, openRouter} {
		for _, prefix := range []string{a.prefix(), redirectPrefix + a.prefix()} {
			p.mux.Handle("POST "+prefix+"/chat/completions", p.model(a, openAIBody(chatScript)))
			p.mux.Handle("POST "+prefix+"/responses", p.model(a, openAIBody(p.responsesScript)))
			p.mux.Handle("POST "+prefix+"/responses/input_tokens", p.model(a, openAIBody(inputScript)))
			p.mux.Handle("POST "+prefix+"/responses/compact", p.model(a, openAIBody(func(c *call) script { return compactScript(c, p.stored) })))
			handleStored(p, prefix)
			p.mux.Handle("POST "+prefix+"/messages", p.model(anthropic, messagesBody(messagesScript, false)))
			p.mux.Handle("POST "+prefix+"/messages/count_tokens", p.model(anthropic, messagesBody(countScript, true)))
			p.mux.Handle("POST "+prefix+"/embeddings", p.model(a, embeddingsBody))
			p.mux.Handle("POST "+prefix+"/rerank", p.model(a, rerankBody))
			p.mux.Handle("POST "+prefix+"/moderations", p.model(a, moderationsBody))
			p.mux.Handle("POST "+prefix+"/completions", p.model(a, completionsBody))
			p.mux.Handle("POST "+prefix+"/images/generations", p.model(a, imagesBody))
			p.mux.Handle("POST "+prefix+"/images/edits", p.model(a, editsBody))
			p.mux.Handle("POST "+prefix+"/audio/speech", p.model(a, speechBody))
			p.mux.Handle("POST "+prefix+"/audio/transcriptions", p.model(a, transcriptionsBody))
			p.mux.Handle("POST "+prefix+"/audio/translations", p.model(a, transcriptionsBody))
			p.mux.Handle("POST "+prefix+"/images", p.model(a, imagesBody))
			p.mux.Handle("GET "+prefix+"/models", p.list(a))
			p.mux.Handle("GET "+prefix+"/realtime", new(realtimetest.Provider))
		}
	}
	p.mux.Handle("POST "+ResponsesOnlyPrefix+"/responses", p.model(openAI, openAIBody(p.responsesScript)))
	p.mux.Handle("GET "+ResponsesOnlyPrefix+"/models", p.list(openAI))
	p.mux.Handle("/", p.recorded(func(r *http.Request, _ []byte) script {
		return errorScript(apiOf(r), p.requestID(), http.StatusNotFound, "", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
	}))
	// Azure's OpenAI: the v1 API, and the classic one with an address for each deployment.
	p.mux.Handle("/azure/openai/v1/", http.StripPrefix("/azure/openai", p))
	p.mux.HandleFunc("/azure/openai/deployments/{deployment}/{rest...}", func(w http.ResponseWriter, r *http.Request) {
		behind := r.Clone(r.Context())
		behind.URL.Path = "/v1/" + r.PathValue("rest")
		p.ServeHTTP(w, behind)
	})
	p.Gemini = clouds.NewGemini(p)
	p.mux.Handle("/gemini/", http.StripPrefix("/gemini", p.Gemini))
	p.Claude = clouds.NewClaude(p)
	p.mux.Handle("/claude/", http.StripPrefix("/claude", p.Claude))
	p.Converse = clouds.NewConverse(p)
	p.mux.Handle("/bedrock/", http.StripPrefix("/bedrock", p.Converse))
	p.Tokens = clouds.NewTokens()
	p.mux.Handle("/tokens/", http.StripPrefix("/tokens", p.Tokens))
	p.mux.Handle("/computeMetadata/", p.Tokens) // SDKs can change the host, and not the path
	control(p)
	return p
}

// ServeHTTP implements [http.Handler].
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// Serve serves l until ctx ends and then drops every connection. The error is
// nil after ctx ended.
func (p *Provider) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: p, ReadHeaderTimeout: readHeaderTimeout}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Requests returns what arrived so far, oldest first, /_control excluded.
func (p *Provider) Requests() []Request { return p.log.all() }

// Wait blocks until done reports true of the record, or ctx ends; it returns the
// record as done saw it last.
func (p *Provider) Wait(ctx context.Context, done func([]Request) bool) ([]Request, error) {
	return p.log.wait(ctx, done)
}

// Reset forgets the record, every token that nobody has taken, the counts of
// Attempts and what models had become.
func (p *Provider) Reset() {
	p.log.reset()
	p.gates.reset()
	p.attempts.reset()
}

// Step gives n tokens to the streams of the model id ("step", "step-x",
// "stall", …), each worth one event of a step stream or the end of one stall.
// It reports whether all of them fit in.
func (p *Provider) Step(id string, n int) bool { return p.gates.give(id, n) }

// Attempts is how many calls of a model arrived since the last Reset, by the name
// as it was sent, those among them that were refused.
func (p *Provider) Attempts(model string) int { return p.attempts.count(model) }

// Become makes a model behave as the model of another name, until the next Become
// or Reset. It reports whether there is such a behaviour.
func (p *Provider) Become(model, as string) bool { return p.attempts.set(model, as) }

// api is the API that a path belongs to.
type api int

const (
	openAI api = iota
	openRouter
	anthropic // under the prefixes of the others
)

func (a api) prefix() string {
	if a == openRouter {
		return "/api/v1"
	}
	return "/v1"
}

// apiOf is the API that a request to an unknown path means.
func apiOf(r *http.Request) api {
	switch {
	case r.Header.Get("Anthropic-Version") != "":
		return anthropic
	case strings.HasPrefix(strings.TrimPrefix(r.URL.Path, redirectPrefix), openRouter.prefix()+"/"):
		return openRouter
	}
	return openAI
}

// requestID is a new id for a request that no model answers.
func (p *Provider) requestID() string { return fmt.Sprintf("req_fake_%d", p.serial.Add(1)) }
