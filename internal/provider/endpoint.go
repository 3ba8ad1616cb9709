package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
)

// Endpoint is one address of a provider with its credential. It is safe for concurrent use.
type Endpoint struct {
	Name string // "" for the only one

	dialect    Dialect
	base       url.URL
	query      string
	lists      []*url.URL // of models
	listless   bool       // Vertex AI lists what can be had, not what can be called in a location
	header     http.Header
	fields     []HeaderField
	credential Credential // nil for none
	transport  http.RoundTripper
	fresh      http.RoundTripper

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
	base, err := url.Parse(at.baseURL)
	if err != nil {
		return nil, fmt.Errorf("base_url: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("base_url %q: want http://host/… or https://host/…", at.baseURL)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("base_url: no user, query or fragment is possible")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	base.RawPath = ""
	dialect, err := dialectFor(at.dialect, base)
	if err != nil {
		return nil, err
	}
	if dialect == dialects[Anthropic] && base.Path == "" { // as the SDKs of this API write it
		base.Path = "/v1"
	}
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
		credential = &apiKey{dialect: at.keys(dialect), current: e.Credential}
	}
	keyField, option := e.sets(at.keys(dialect))
	fields, err := checkFields(e.Header, keyField, option)
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
	maps.Copy(header, dialect.Header())
	made := &Endpoint{
		Name: e.Name, dialect: dialect, base: *base, query: e.Query.Encode(), header: header, fields: fields,
		credential: credential, transport: c.Transport, fresh: c.Fresh, listless: at.cloud == google,
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
	if made.lists == nil && !made.listless && has(dialect, Models) {
		made.lists = []*url.URL{made.url(Request{Operation: Models, Query: dialect.ModelsQuery()})}
	}
	for _, op := range operations {
		if dialect.Path(op, "", false) == dialect.Path(op, "name", true) {
			made.urls[op] = made.url(Request{Operation: op})
		}
	}
	return made, nil
}

// ErrRedirect is returned for a 3xx answer.
var ErrRedirect = errors.New("the provider answered with a redirect, which is never followed")

// ErrStale is returned by Send if a kept connection ended without an answer at most a second after
// the request was written, or with a 408. Kept means that it had served an earlier request and
// carried no other. Most likely the provider closed it just as it was used again. The provider can
// still have received the request and have begun with it: that is why there is a bound. net/http
// itself repeats a POST only if it counts as idempotent, and then on any number of such
// connections.
var ErrStale = errors.New("a kept connection was closed just as it was used again")

// ErrConnectTimeout is wrapped by the error of Send if no connection was open in time.
var ErrConnectTimeout = errors.New("no connection in time")

// Request is a request to a provider.
type Request struct {
	Operation Operation
	Name      string // of the model, as the provider calls it, or of the response that the request is about
	Body      *Body
	Stream    bool
	Header    http.Header // in addition to the provider's own; nil for none
	Query     string      // encoded, in addition to the provider's own
}

// Send sends a request and returns the answer as soon as its header has arrived. The caller must
// close the answer's body; cancelling ctx ends both. The answer's body is never compressed. After
// ErrStale the call can be sent once more with Resend. A request whose credential is refused is sent
// once more if there may be a new one.
func (e *Endpoint) Send(ctx context.Context, r Request) (*http.Response, error) {
	resp, a, err := e.send(ctx, e.transport, r)
	if err == nil && e.renews(resp) {
		_ = resp.Body.Close()
		resp, a, err = e.send(ctx, e.transport, r)
	}
	switch {
	case err != nil && ctx.Err() == nil && a.stale(err):
		err = fmt.Errorf("%w: %w", ErrStale, err)
	case err == nil && a.refusedIdle(resp):
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: status %d", ErrStale, resp.StatusCode)
	case err == nil && a.written.Load():
		r.Body.sent()
	}
	return resp, err
}

// renews reports whether a request that was refused may have a new credential.
func (e *Endpoint) renews(resp *http.Response) bool {
	refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
	return (refused || expiredAtAWS(resp)) && e.credential != nil && e.credential.Refused(resp.StatusCode)
}

// Resend is Send on a new connection.
func (e *Endpoint) Resend(ctx context.Context, r Request) (*http.Response, error) {
	resp, _, err := e.send(ctx, e.fresh, r)
	return resp, err
}

func (e *Endpoint) send(ctx context.Context, transport http.RoundTripper, r Request) (*http.Response, *attempt, error) {
	a := newAttempt()
	reader, err := r.Body.Open()
	if err != nil {
		return nil, a, err
	}
	req := e.request(ctx, a, r)
	req.Body, req.GetBody, req.ContentLength = reader, r.Body.Open, r.Body.Size()
	if req.ContentLength == 0 { // of another body than this one it would be an unknown length
		req.Body, req.GetBody = http.NoBody, nil
		delete(req.Header, "Content-Type")
	}
	if err := e.sign(req, r.Body); err != nil {
		_ = reader.Close()
		return nil, a, err
	}
	resp, err := roundTrip(transport, req)
	if err != nil && !unprocessed(err) && a.delivered() {
		r.Body.delivered = true
	}
	if a.conn == nil && ctx.Err() == nil {
		err = connecting(err)
	}
	return resp, a, err
}

// connecting returns the error of a request that got no connection.
func connecting(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("%w: %w", ErrConnectTimeout, err)
	}
	return err
}

// Authorize asks for what authorizes requests, such as the token of a cloud. It sends nothing to the
// provider.
func (e *Endpoint) Authorize(ctx context.Context) error {
	return e.sign(e.request(ctx, newAttempt(), Request{Operation: Models}), nil)
}

// sign authorizes a request that is complete. Body is nil for a request without one.
func (e *Endpoint) sign(req *http.Request, body *Body) error {
	if e.credential == nil {
		return nil
	}
	if err := e.credential.Sign(req, body); err != nil {
		return fmt.Errorf("%w: %w", ErrNoCredential, err)
	}
	return nil
}

var (
	acceptJSON   = []string{"application/json"}
	acceptEvents = []string{"text/event-stream"}
)

func (e *Endpoint) request(ctx context.Context, a *attempt, r Request) *http.Request {
	req := e.posts.WithContext(httptrace.WithClientTrace(ctx, &a.trace)) // a copy
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
	path := e.dialect.Path(r.Operation, r.Name, r.Stream)
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
