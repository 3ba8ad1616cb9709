// Package fake is a model provider for tests. It speaks the OpenAI API under
// /v1 and the OpenRouter API under /api/v1 (chat completions, responses, model
// lists), and shows on demand what real providers do wrong.
//
//	p := fake.New()
//	srv := httptest.NewServer(p)       // or p.Serve(ctx, listener): raw header order too
//	… ask for the model "cut-clean" …
//	p.Requests()                       // what arrived
//
// The model name chooses the behaviour: the part after the last slash, up to a
// colon, so "echo", "acme/echo" and "acme/echo:free" are the same. Names are in
// [Behaviours]; those that take an argument are
//
//	err-NNN, err-NNN-CODE   status NNN (400 to 599) with an error body
//	step-ID, stall-ID       wait for tokens given to "step-ID" or "stall-ID"
//	delayed-headers-MS      nothing, not even a status line, for MS milliseconds
//	NAME-agent              as "agent", under a name that a client knows
//	paced-N-MS, burst-N     N events MS apart, or in one write; they always stream
//
// Under /responses-only/v1 the first family is there without chat completions.
//
// Every answer names the model as it was received. /_control (see control.go)
// reads the record and hands out tokens when the provider runs in a process of
// its own. Nothing here is meant to meet a network: listen on loopback.
package fake

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
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

// Provider is the fake. Its methods may be called from any goroutine.
type Provider struct {
	now    func() time.Time
	record bool
	log    *recorder
	gates  *gates
	stored *responseStore
	models *modelList
	canned *cannedStreams
	serial atomic.Int64
	mux    *http.ServeMux
}

// Option changes a Provider while it is made.
type Option func(*Provider)

// WithClock replaces time.Now for "created" fields and for the record.
func WithClock(now func() time.Time) Option { return func(p *Provider) { p.now = now } }

// WithoutRecord keeps nothing of what arrives, for load tests.
func WithoutRecord() Option { return func(p *Provider) { p.record = false } }

// New returns a provider that records.
func New(opts ...Option) *Provider {
	p := &Provider{now: time.Now, record: true}
	for _, opt := range opts {
		opt(p)
	}
	p.log = newRecorder(p.now)
	p.gates = newGates()
	p.stored = newResponseStore()
	p.models = &modelList{}
	p.canned = &cannedStreams{}
	p.mux = http.NewServeMux()
	for _, f := range []family{openAI, openRouter} {
		for _, prefix := range []string{f.prefix(), redirectPrefix + f.prefix()} {
			p.mux.Handle("POST "+prefix+"/chat/completions", p.quick(f, p.model(f, chatScript)))
			p.mux.Handle("POST "+prefix+"/responses", p.model(f, p.responsesScript))
			p.mux.Handle("GET "+prefix+"/models", p.list(f))
			p.mux.Handle("GET "+prefix+"/models/{id...}", p.list(f))
		}
	}
	p.mux.Handle("POST "+ResponsesOnlyPrefix+"/responses", p.model(openAI, p.responsesScript))
	p.mux.Handle("GET "+ResponsesOnlyPrefix+"/models", p.list(openAI))
	p.mux.Handle("/", p.recorded(func(r *http.Request, _ []byte) script {
		return errorScript(familyOf(r.URL.Path), http.StatusNotFound, "", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
	}))
	p.control()
	return p
}

// ServeHTTP serves both families and /_control.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// Serve serves l until ctx ends and then drops every connection. Unlike a plain
// http.Server it also records headers as they stood on the wire: order, case,
// repetitions. The error is nil after ctx ended.
func (p *Provider) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{Handler: p, ReadHeaderTimeout: readHeaderTimeout}
	if p.record {
		l = wireListener{l}
		srv.ConnContext = withWireConn
	}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Requests returns what arrived so far, oldest first, /_control excluded.
func (p *Provider) Requests() []Request { return p.log.all() }

// Wait blocks until done says true of the record, or ctx ends; it returns the
// record as done saw it last.
func (p *Provider) Wait(ctx context.Context, done func([]Request) bool) ([]Request, error) {
	return p.log.wait(ctx, done)
}

// Reset forgets the record and every token that nobody has taken.
func (p *Provider) Reset() {
	p.log.reset()
	p.gates.reset()
}

// Step gives n tokens to the streams of the model id ("step", "step-x",
// "stall", …), each worth one event of a step stream or the end of one stall.
// It reports whether there was room for all of them.
func (p *Provider) Step(id string, n int) bool { return p.gates.give(id, n) }

// family is the API that a path belongs to.
type family int

const (
	openAI family = iota
	openRouter
)

func (f family) prefix() string {
	if f == openRouter {
		return "/api/v1"
	}
	return "/v1"
}

func familyOf(path string) family {
	if strings.HasPrefix(strings.TrimPrefix(path, redirectPrefix), openRouter.prefix()+"/") {
		return openRouter
	}
	return openAI
}
