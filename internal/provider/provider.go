// Package provider talks to model providers: one [Provider] for each provider block, one [Dialect]
// for each kind of provider.
//
// A provider is reached through a bare http.RoundTripper that the caller supplies; that of the
// built-in test provider needs no network. Redirects are not followed (they would carry the
// credential elsewhere). The request's header is built from nothing: of the client's header a
// provider gets only what the operation names.
package provider

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
)

// Config describes one provider.
type Config struct {
	Name      string // [a-z0-9][a-z0-9-]*; the first part of its models' names
	Dialect   string // "" = openai, or openrouter or anthropic for that vendor's own host
	Endpoints []EndpointConfig
	AccountOf string // the tenant that owns the whole account at the provider; "" = shared
	Transport http.RoundTripper

	// Fresh is like Transport but opens a connection for each request; nil = Transport.
	Fresh http.RoundTripper

	// Timeouts replace those of the gateway where they are not 0, and ModelTimeouts these.
	Timeouts      Timeouts
	ModelTimeouts []ModelTimeouts

	// NativeMessages says that the provider has the Messages API besides OpenAI's. Without it,
	// dialects other than anthropic get Messages calls translated.
	NativeMessages bool

	// Translate says how Responses calls become chat completions; nil if the provider has a
	// Responses API.
	Translate *Translate

	// ResponsesOnly translates chat calls to Responses calls, because the provider has no chat
	// completions. It excludes Translate.
	ResponsesOnly bool

	// MaxTokensField is the only name that the provider's chat completions know for the limit of an
	// output; "" = both names. It excludes ResponsesOnly.
	MaxTokensField string

	// Betas are beta features of the Messages API that Claude knows at this provider, besides the usual
	// ones of its platform.
	Betas []string

	// CostReported says that the cost in an answer's usage is what is paid.
	CostReported bool

	// TraceContext sends the call's trace as the header field traceparent.
	TraceContext bool

	// UserAgent names the gateway to the provider.
	UserAgent string
}

// EndpointConfig is one address of a provider and the credential for it.
type EndpointConfig struct {
	Name    string // unique in the provider; "" for the only one
	BaseURL string // https://host/v1; no query, no fragment; "" = that of Place, or of the dialect's vendor
	Place   Place
	// Credential returns the credential at present; nil = none is sent (a local server).
	Credential func() string
	// Auth replaces Credential where requests are signed, or tokens expire; nil = none.
	Auth Credential
	// Header and Query are sent with every request. A call's own fields of the same name come first.
	Header []HeaderField
	Query  url.Values
}

// One returns the only endpoint of a provider, with a credential that does not change; "" = none.
func One(baseURL, credential string) []EndpointConfig {
	e := EndpointConfig{BaseURL: baseURL}
	if credential != "" {
		e.Credential = func() string { return credential }
	}
	return []EndpointConfig{e}
}

// Translate has the differences between providers that only have chat completions.
type Translate struct {
	DeveloperRole    bool // they know the role developer
	ReasoningContent bool // they expect their reasoning in later requests

	// RefuseUnknownTools refuses a request with tools that chat completions cannot have, instead of
	// leaving these out.
	RefuseUnknownTools bool
}

// Provider is one configured provider. It does not change after New and is safe for concurrent use.
type Provider struct {
	Name           string
	AccountOf      string
	Translate      *Translate // not nil if it has chat completions
	MaxTokensField string
	Betas          []string
	CostReported   bool
	TraceContext   bool
	BuiltIn        bool // the test provider
	Dialect        *Dialect
	Timeouts       Timeouts
	Endpoints      []*Endpoint // at least one

	lacks         []Operation // of the dialect's operations
	modelTimeouts []ModelTimeouts
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// ValidName returns an error if a provider, or another server of this kind, cannot have this name.
func ValidName(kind, name string) error {
	if !validName.MatchString(name) {
		return fmt.Errorf("%s name %q: want 1 to 63 of a-z, 0-9 and -, not beginning with -", kind, name)
	}
	return nil
}

// New checks the configuration and returns the provider.
func New(c Config) (*Provider, error) {
	if err := ValidName("provider", c.Name); err != nil {
		return nil, err
	}
	if c.Transport == nil {
		return nil, errors.New("no transport")
	}
	switch c.MaxTokensField {
	case "", "max_tokens", "max_completion_tokens":
	default:
		return nil, fmt.Errorf("max_tokens_field %q: want max_tokens or max_completion_tokens", c.MaxTokensField)
	}
	if c.Fresh == nil {
		c.Fresh = c.Transport
	}
	p := &Provider{
		Name:           c.Name,
		AccountOf:      c.AccountOf,
		Translate:      c.Translate,
		MaxTokensField: c.MaxTokensField,
		Betas:          c.Betas,
		CostReported:   c.CostReported,
		TraceContext:   c.TraceContext,
		BuiltIn:        c.Dialect == Test,
		Timeouts:       c.Timeouts,
		modelTimeouts:  c.ModelTimeouts,
	}
	if len(c.Endpoints) == 0 {
		return nil, errors.New("no endpoint")
	}
	for _, e := range c.Endpoints {
		if !validName.MatchString(e.Name) && (e.Name != "" || len(c.Endpoints) > 1) {
			return nil, fmt.Errorf("endpoint name %q: want 1 to 63 of a-z, 0-9 and -, not beginning with -", e.Name)
		}
		endpoint, err := newEndpoint(c, e)
		if err != nil && e.Name != "" {
			err = fmt.Errorf("endpoint %q: %w", e.Name, err)
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(p.Endpoints, func(other *Endpoint) bool { return other.Name == e.Name }) {
			return nil, fmt.Errorf("endpoint %q is given twice", e.Name)
		}
		if p.Dialect != nil && p.Dialect != endpoint.dialect {
			return nil, errors.New("the endpoints have different dialects")
		}
		p.Endpoints, p.Dialect = append(p.Endpoints, endpoint), endpoint.dialect
	}
	if !slices.ContainsFunc(p.Endpoints, func(e *Endpoint) bool { return !e.listless }) {
		p.lacks = append(p.lacks, Models)
	}
	switch {
	case !p.Dialect.Has(Chat):
		return p, nil
	case !c.ResponsesOnly:
	case c.Translate != nil:
		return nil, errors.New("chat translate and responses translate: one of the two APIs must be the provider's own")
	case c.MaxTokensField != "":
		return nil, errors.New("max_tokens_field: a provider without chat completions has none")
	}
	if p.Translate == nil { // for dialects without a Responses API
		p.Translate = new(Translate)
	}
	if c.Translate != nil {
		p.lacks = append(p.lacks, responsesAPI[:]...)
	}
	for op, lacks := range map[Operation]bool{
		Chat: c.ResponsesOnly, Messages: !c.NativeMessages, CountTokens: !c.NativeMessages && p.Dialect.Has(Messages),
	} {
		if lacks {
			p.lacks = append(p.lacks, op)
		}
	}
	return p, nil
}

// Has reports whether the provider has an operation in the form of its own API. What callers ask of
// another one is translated into one that it has.
func (p *Provider) Has(op Operation) bool { return !slices.Contains(p.lacks, op) && p.Dialect.Has(op) }

// Identity is equal for equal providers of different configurations.
func (p *Provider) Identity() string { return p.Name + " " + p.Endpoints[0].base.String() }
