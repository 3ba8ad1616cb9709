package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// Endpoint is one address of a provider with its credential. It is safe for concurrent use.
type Endpoint struct {
	Name string // "" for the only one

	dialect  *Dialect
	base     url.URL
	query    string
	lists    []*url.URL // of models
	listless bool       // Vertex AI lists what can be had, not what can be called in a location
	header   http.Header
	fields   []HeaderField
	peer     Peer

	plainMu      sync.RWMutex
	plainStreams map[string]bool // names of models that refuse stream_options

	// What nearly all requests have in common is made once, and copied.
	posts http.Request           // what a POST has of the endpoint alone
	plain [2]http.Header         // of requests that add nothing to it: whole, streamed
	urls  map[Operation]*url.URL // of requests without a query of their own and with one path for all models; not changed by a RoundTripper
}

func newEndpoint(c Config, e EndpointConfig) (*Endpoint, error) {
	at, err := e.address(c.Dialect)
	if err != nil {
		return nil, err
	}
	base, err := ParseAddress("base_url", at.baseURL)
	if err != nil {
		return nil, err
	}
	base.Path = strings.TrimRight(base.Path, "/")
	base.RawPath = ""
	dialect, err := dialectFor(at.dialect, base)
	if err != nil {
		return nil, err
	}
	base.Path = cmp.Or(base.Path, dialect.basePath)
	sent := at.keyField(dialect)
	if e.Credential != nil {
		if err := ValidCredential(e.Credential()); err != nil {
			return nil, err
		}
	}
	credential := e.Auth
	if e.Credential != nil {
		if credential != nil {
			return nil, errors.New("api_key and auth: give only one of them")
		}
		credential = NewAPIKey(e.Credential, sent)
	}
	keyField, option := e.sets(sent)
	fields, err := CheckFields(e.Header, keyField, option)
	if err != nil {
		return nil, err
	}
	if e.Query.Has("") {
		return nil, errors.New("query: a name is missing")
	}
	header := http.Header{
		"Content-Type":    {"application/json"},
		"Accept-Encoding": {"identity"},
		"User-Agent":      {c.UserAgent},
	}
	maps.Copy(header, dialect.header)
	made := &Endpoint{
		Name: e.Name, dialect: dialect, base: *base, query: e.Query.Encode(), header: header, fields: fields,
		peer: Peer{Transport: c.Transport, Fresh: c.Fresh, Credential: credential}, listless: at.cloud == google,
		posts: http.Request{Method: http.MethodPost, Host: base.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1},
		urls:  make(map[Operation]*url.URL, len(operations)),
	}
	made.plain = [2]http.Header{made.ownHeader(Request{}), made.ownHeader(Request{Stream: true})}
	for _, list := range at.lists {
		parsed, err := url.Parse(list)
		if err != nil {
			return nil, fmt.Errorf("base_url: %w", err)
		}
		made.lists = append(made.lists, parsed)
	}
	if made.lists == nil && !made.listless && dialect.Has(Models) {
		made.lists = []*url.URL{made.url(Request{Operation: Models, Query: dialect.modelsQuery})}
	}
	for _, op := range operations {
		if dialect.path(op, "", false) == dialect.path(op, "name", true) {
			made.urls[op] = made.url(Request{Operation: op})
		}
	}
	return made, nil
}

// Request is a request to a provider.
type Request struct {
	Operation Operation
	Name      string // of the model, as the provider calls it, or of the response that the request is about
	Body      *Body
	Stream    bool
	Header    http.Header // in addition to the provider's own; nil for none
	Query     string      // encoded, in addition to the provider's own
}

// maxPlainStreams is how many models an endpoint notes that refuse stream_options. Callers choose
// the names of some, so beyond it the notes begin anew, and each of these models refuses once more.
const maxPlainStreams = 1 << 10

// RefusesStreamOptions reports whether a model was noted to refuse stream_options.
func (e *Endpoint) RefusesStreamOptions(model string) bool {
	e.plainMu.RLock()
	defer e.plainMu.RUnlock()
	return e.plainStreams[model]
}

// NoteStreamOptionsRefused notes that a model streams, and refuses stream_options. One provider may
// serve models by several servers.
func (e *Endpoint) NoteStreamOptionsRefused(model string) {
	e.plainMu.Lock()
	defer e.plainMu.Unlock()
	if e.plainStreams == nil || len(e.plainStreams) >= maxPlainStreams {
		e.plainStreams = make(map[string]bool)
	}
	e.plainStreams[model] = true
}

// Send is [Peer.Send] of a call.
func (e *Endpoint) Send(ctx context.Context, r Request) (*http.Response, error) {
	return e.peer.Send(ctx, r.Body, func(ctx context.Context) *http.Request { return e.request(ctx, r) })
}

// Resend is Send on a new connection.
func (e *Endpoint) Resend(ctx context.Context, r Request) (*http.Response, error) {
	return e.peer.Resend(ctx, r.Body, func(ctx context.Context) *http.Request { return e.request(ctx, r) })
}

// Handshake returns what sends the opening handshake of a WebSocket (RFC 6455, section 4.1) as a
// request to the endpoint, with its header and credential. Of the request that it is given it takes
// the fields of the handshake.
func (e *Endpoint) Handshake(r Request) http.RoundTripper { return handshake{e, r} }

type handshake struct {
	endpoint *Endpoint
	request  Request
}

// RoundTrip implements [http.RoundTripper].
func (h handshake) RoundTrip(r *http.Request) (*http.Response, error) {
	req := h.endpoint.request(r.Context(), h.request)
	maps.Copy(req.Header, r.Header)
	if err := h.endpoint.peer.sign(req, nil); err != nil {
		return nil, err
	}
	return roundTrip(h.endpoint.peer.Transport, req)
}

// Authorize asks for what authorizes requests, such as the token of a cloud. It sends nothing to
// the provider.
func (e *Endpoint) Authorize(ctx context.Context) error {
	return e.peer.sign(e.request(ctx, Request{Operation: Models}), nil)
}

var (
	acceptJSON   = []string{"application/json"}
	acceptEvents = []string{"text/event-stream"}
)

func (e *Endpoint) request(ctx context.Context, r Request) *http.Request {
	req := e.posts.WithContext(ctx) // a copy
	req.Method, req.URL = r.Operation.method(), e.url(r)
	if req.Method == http.MethodPost && len(r.Header)+len(e.fields) == 0 {
		plain := e.plain[0]
		if r.Stream {
			plain = e.plain[1]
		}
		req.Header = maps.Clone(plain) // the values are shared: a transport may set other ones
		return req
	}
	req.Header = e.ownHeader(r)
	if req.Method == http.MethodGet {
		delete(req.Header, "Content-Type")
	}
	return req
}

func (e *Endpoint) url(r Request) *url.URL {
	if made := e.urls[r.Operation]; made != nil && r.Query == "" {
		return made
	}
	target := e.base
	path := e.dialect.path(r.Operation, r.Name, r.Stream)
	if plain, err := url.PathUnescape(path); err == nil && plain != path {
		target.RawPath = target.EscapedPath() + path
		path = plain
	}
	target.Path += path
	target.RawQuery = joinQuery(r.Query, e.query)
	return &target
}

// ownHeader makes the header of one request, without its credential.
func (e *Endpoint) ownHeader(r Request) http.Header {
	header := make(http.Header, len(e.header)+len(e.fields)+len(r.Header)+2)
	maps.Copy(header, e.header)
	maps.Copy(header, r.Header)
	for _, f := range e.fields {
		switch own := r.Header[f.Name]; {
		case own == nil:
			header[f.Name] = []string{f.Value()}
		case f.Name == listField:
			header[listField] = []string{f.Value() + "," + strings.Join(own, ",")}
		}
	}
	switch {
	case r.Header["Accept"] != nil:
	case r.Stream:
		header["Accept"] = acceptEvents
	default:
		header["Accept"] = acceptJSON
	}
	return header
}

func joinQuery(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}
