// Package provider talks to model providers: one [Provider] for each provider block, one [Dialect]
// for each kind of provider.
//
// A provider is reached through a bare http.RoundTripper that the caller supplies; that of the
// built-in test provider needs no network. Redirects are not followed (they would carry the
// credential elsewhere). The request's header is built from nothing: no field of the client's
// header ever reaches a provider.
package provider

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"strings"
)

// Config describes one provider.
type Config struct {
	Name       string // [a-z0-9][a-z0-9-]*; the first part of its models' names
	Dialect    string // "" = openai, or openrouter for that vendor's own host
	BaseURL    string // https://host/v1; no query, no fragment
	Credential string // "" = no Authorization header (a local server)
	AccountOf  string // the tenant that owns the whole account at the provider; "" = shared
	Transport  http.RoundTripper

	// Fresh is like Transport but opens a connection for each request; nil = Transport.
	Fresh http.RoundTripper

	// Translate says how Responses calls become chat completions; nil if the provider has a
	// Responses API.
	Translate *Translate

	// ResponsesOnly translates chat calls to Responses calls, because the provider has no chat
	// completions. It excludes Translate.
	ResponsesOnly bool

	// MaxTokensField is the only name that the provider's chat completions know for the limit of an
	// output; "" = both names. It excludes ResponsesOnly.
	MaxTokensField string

	// CostReported says that the cost in an answer's usage is what is paid.
	CostReported bool

	// UserAgent names the gateway to the provider.
	UserAgent string
}

// Translate has the differences between providers that only have chat completions.
type Translate struct {
	DeveloperRole    bool // they know the role developer
	ReasoningContent bool // they expect their reasoning in later requests
}

// Provider is one configured provider. It does not change after New and is safe for concurrent use.
type Provider struct {
	Name           string
	AccountOf      string
	Translate      *Translate
	ResponsesOnly  bool
	MaxTokensField string
	CostReported   bool
	BuiltIn        bool // the test provider
	Dialect        Dialect

	base      url.URL
	header    http.Header
	transport http.RoundTripper
	fresh     http.RoundTripper
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// ValidName returns an error if a provider cannot have this name.
func ValidName(name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("provider name %q: want 1 to 63 of a-z, 0-9 and -, not beginning with -", name)
	}
	return nil
}

// New checks the configuration and returns the provider.
func New(c Config) (*Provider, error) {
	if err := ValidName(c.Name); err != nil {
		return nil, err
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("base_url: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("base_url %q: want http://host/… or https://host/…", c.BaseURL)
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("base_url: no user, query or fragment is possible")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	base.RawPath = ""
	dialect, err := dialectFor(c.Dialect, base)
	if err != nil {
		return nil, err
	}
	if c.Transport == nil {
		return nil, errors.New("no transport")
	}
	if c.Translate != nil && c.ResponsesOnly {
		return nil, errors.New("chat translate and responses translate: one of the two APIs must be the provider's own")
	}
	switch c.MaxTokensField {
	case "", "max_tokens", "max_completion_tokens":
	default:
		return nil, fmt.Errorf("max_tokens_field %q: want max_tokens or max_completion_tokens", c.MaxTokensField)
	}
	if c.MaxTokensField != "" && c.ResponsesOnly {
		return nil, errors.New("max_tokens_field: a provider without chat completions has none")
	}
	if strings.ContainsFunc(c.Credential, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("api_key has characters that no Authorization header can carry, such as a line end")
	}
	if c.Fresh == nil {
		c.Fresh = c.Transport
	}
	header := http.Header{
		"Content-Type":    {"application/json"},
		"Accept-Encoding": {"identity"},
		"User-Agent":      {c.UserAgent},
	}
	if c.Credential != "" {
		dialect.Authorize(header, c.Credential)
	}
	return &Provider{
		Name:           c.Name,
		AccountOf:      c.AccountOf,
		Translate:      c.Translate,
		ResponsesOnly:  c.ResponsesOnly,
		MaxTokensField: c.MaxTokensField,
		CostReported:   c.CostReported,
		BuiltIn:        c.Dialect == Test,
		Dialect:        dialect,
		base:           *base,
		header:         header,
		transport:      c.Transport,
		fresh:          c.Fresh,
	}, nil
}

// Identity is equal for equal providers of different configurations.
func (p *Provider) Identity() string { return p.Name + " " + p.base.String() }

// ErrRedirect is returned for a 3xx answer.
var ErrRedirect = errors.New("the provider answered with a redirect, which is never followed")

// ErrStale is returned by Send if a kept connection ended without an answer at most a second after
// the request was written, or with a 408. Kept means that it had served an earlier request and
// carried no other. Most likely the provider closed it just as it was used again. The provider can
// still have received the request and have begun with it: that is why there is a bound. net/http
// itself repeats a POST only if it counts as idempotent, and then on any number of such
// connections.
var ErrStale = errors.New("a kept connection was closed just as it was used again")

// Send posts body to the operation and returns the answer as soon as its header has arrived. The
// caller must close the answer's body; cancelling ctx ends both. The answer's body is never
// compressed. After ErrStale the call can be sent once more with Resend.
func (p *Provider) Send(ctx context.Context, op Operation, body *Body, stream bool) (*http.Response, error) {
	resp, a, err := p.post(ctx, p.transport, op, body, stream)
	switch {
	case err != nil && ctx.Err() == nil && a.stale(err):
		err = fmt.Errorf("%w: %w", ErrStale, err)
	case err == nil && a.refusedIdle(resp):
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%w: status %d", ErrStale, resp.StatusCode)
	}
	return resp, err
}

// Resend is Send on a new connection.
func (p *Provider) Resend(ctx context.Context, op Operation, body *Body, stream bool) (*http.Response, error) {
	resp, _, err := p.post(ctx, p.fresh, op, body, stream)
	return resp, err
}

func (p *Provider) post(ctx context.Context, transport http.RoundTripper, op Operation, body *Body, stream bool) (*http.Response, *attempt, error) {
	accept := "application/json"
	if stream {
		accept = "text/event-stream"
	}
	a := newAttempt()
	reader, err := body.Open()
	if err != nil {
		return nil, a, err
	}
	req := p.request(ctx, a, http.MethodPost, op, accept)
	req.Body = reader
	req.GetBody = body.Open
	req.ContentLength = body.Size()
	resp, err := roundTrip(transport, req)
	if err != nil && !unprocessed(err) && a.delivered() {
		body.delivered = true
	}
	return resp, a, err
}

// Get fetches the operation without a body: the provider's list of models.
func (p *Provider) Get(ctx context.Context, op Operation) (*http.Response, error) {
	return roundTrip(p.transport, p.request(ctx, newAttempt(), http.MethodGet, op, "application/json"))
}

func (p *Provider) request(ctx context.Context, a *attempt, method string, op Operation, accept string) *http.Request {
	target := p.base
	target.Path += p.Dialect.Path(op)
	header := make(http.Header, len(p.header)+1)
	for name, values := range p.header {
		header[name] = values
	}
	header["Accept"] = []string{accept}
	if method == http.MethodGet {
		delete(header, "Content-Type")
	}
	req := &http.Request{
		Method: method, URL: &target, Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(httptrace.WithClientTrace(ctx, &a.trace))
}

func roundTrip(transport http.RoundTripper, req *http.Request) (*http.Response, error) {
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("status %d: %w", resp.StatusCode, ErrRedirect)
	}
	// Compression was not requested, but some providers use it anyway.
	switch encoding := resp.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
	case "gzip", "x-gzip":
		resp.Body = &gunzip{compressed: resp.Body}
		resp.ContentLength = -1
	default:
		_ = resp.Body.Close()
		return nil, fmt.Errorf("the provider answered in an encoding that was not requested: %q", encoding)
	}
	return resp, nil
}

// gunzip reads lazily: an eager reader would wait for the first bytes of a stream before its header
// could be used.
type gunzip struct {
	compressed io.ReadCloser
	plain      *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.plain == nil {
		plain, err := gzip.NewReader(g.compressed)
		if err != nil {
			return 0, fmt.Errorf("decompressing the answer: %w", err)
		}
		g.plain = plain
	}
	return g.plain.Read(p)
}

func (g *gunzip) Close() error { return g.compressed.Close() }
