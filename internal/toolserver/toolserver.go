// Package toolserver talks to MCP servers: one [Server] for each mcp block of a configuration.
//
// A server is reached as a model provider is, through a [provider.Peer]: redirects are not followed,
// and answers are not compressed. Its requests have the header that the caller of Send gives, which
// must come from a list of allowed fields, and what the block adds to it. A client's own credential is
// never among them (MCP 2026-07-28, "Token Passthrough").
package toolserver

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Config describes one server.
type Config struct {
	Name       string // [a-z0-9][a-z0-9-]*
	URL        string // of its one endpoint, http or https; no user, query or fragment
	Transport  http.RoundTripper
	Fresh      http.RoundTripper   // like Transport, but opens a connection for each request; nil = Transport
	Credential provider.Credential // nil = none
	Header     []provider.HeaderField
	Query      url.Values // sent with every request
	Forward    []string   // fields of a client's header that are passed on
	Tools      Rights
	Timeouts   Timeouts
	MaxResult  int64 // bytes of one answer, or of one event of a stream; 0 = DefaultMaxResult
	Prices     []Price
	// TraceContext sends the call's trace as the header field traceparent.
	TraceContext bool
	UserAgent    string // names the gateway to the server
	BuiltIn      bool   // the demo server
	Desktops     bool   // the built-in server of desktops, whose requests have those of their caller
	Now          func() time.Time
}

// Rights say which tools of a server can be called: those that fit Allow, and not Deny.
type Rights struct {
	Allow pattern.List // empty = all
	Deny  pattern.List
}

// Price is what a call of some tools costs.
type Price struct {
	Pattern string // over the names of tools
	Nano    int64  // USD of a call, in 1e-9
}

// Timeouts bound a request to a server. 0 takes that of DefaultTimeouts.
type Timeouts struct {
	Connect time.Duration // until a connection is open; the transport applies it
	Header  time.Duration // until the answer begins
	Idle    time.Duration // between two reads of an answer
	Call    time.Duration // from the request to the end of the answer; 0 = no limit
}

// DefaultTimeouts let a tool work for minutes.
var DefaultTimeouts = Timeouts{Connect: 10 * time.Second, Header: 5 * time.Minute, Idle: 5 * time.Minute}

// DefaultMaxResult, LeastMaxResult and MostMaxResult bound the size of an answer, in bytes: many
// times what a model can read, and nothing that fills the memory of the gateway.
const (
	DefaultMaxResult = 4 << 20
	LeastMaxResult   = 1 << 10
	MostMaxResult    = 64 << 20
)

// Server is one configured server. It is safe for concurrent use.
type Server struct {
	Name      string
	BuiltIn   bool
	Desktops  bool
	Timeouts  Timeouts
	MaxResult int64
	Forward   []string // canonical names

	TraceContext bool

	endpoint endpoint
	tools    Rights
	prices   []Price
	versions versions
	*health
}

// New checks the configuration and returns the server.
func New(c Config) (*Server, error) {
	if err := provider.ValidName("mcp", c.Name); err != nil {
		return nil, err
	}
	if c.Transport == nil {
		return nil, errors.New("no transport")
	}
	address, err := provider.ParseAddress("url", c.URL)
	if err != nil {
		return nil, err
	}
	if c.Query.Has("") {
		return nil, errors.New("query: a name is missing")
	}
	address.RawQuery = c.Query.Encode()
	keyField := ""
	if c.Credential != nil {
		keyField, _ = provider.BearerField("")
	}
	fields, err := provider.CheckFields(c.Header, keyField, "api_key, oauth or auth")
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		if protocolField(f.Name) {
			return nil, fmt.Errorf("header %s: it belongs to the protocol", f.Name)
		}
	}
	forward, err := checkForward(c.Forward, fields)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.Tools.check(), checkPrices(c.Prices)); err != nil {
		return nil, err
	}
	if c.MaxResult == 0 {
		c.MaxResult = DefaultMaxResult
	}
	if c.MaxResult < LeastMaxResult || c.MaxResult > MostMaxResult {
		return nil, fmt.Errorf("max_result: want %d to %d bytes", LeastMaxResult, MostMaxResult)
	}
	if c.Fresh == nil {
		c.Fresh = c.Transport
	}
	return &Server{
		Name: c.Name, BuiltIn: c.BuiltIn, Desktops: c.Desktops, Timeouts: c.Timeouts.orDefault(), MaxResult: c.MaxResult, Forward: forward, TraceContext: c.TraceContext,
		endpoint: endpoint{
			address: *address, fields: fields, userAgent: []string{c.UserAgent},
			peer: provider.Peer{Transport: c.Transport, Fresh: c.Fresh, Credential: c.Credential},
		},
		tools: c.Tools, prices: c.Prices, health: &health{now: c.Now, current: Health{State: Unknown}},
	}, nil
}

func (t Timeouts) orDefault() Timeouts {
	for _, d := range []struct {
		dst  *time.Duration
		used time.Duration
	}{{&t.Connect, DefaultTimeouts.Connect}, {&t.Header, DefaultTimeouts.Header}, {&t.Idle, DefaultTimeouts.Idle}} {
		if *d.dst == 0 {
			*d.dst = d.used
		}
	}
	return t
}

// AllowsTool reports whether the server's block lets the tool be called.
func (s *Server) AllowsTool(name string) bool {
	return (len(s.tools.Allow) == 0 || s.tools.Allow.Match(name)) && !s.tools.Deny.Match(name)
}

// Price returns what a call of a tool costs, in 1e-9 USD: the price of the first pattern that fits. A
// tool without one is free.
func (s *Server) Price(tool string) (nano int64) {
	i := slices.IndexFunc(s.prices, func(p Price) bool { return pattern.Match(p.Pattern, tool) })
	if i < 0 {
		return 0
	}
	return s.prices[i].Nano
}

// Servers are those of a configuration.
type Servers struct {
	byName map[string]*Server
	sorted []*Server
}

// NewServers returns the servers of a configuration, whose names differ.
func NewServers(list []*Server) (*Servers, error) {
	s := &Servers{byName: make(map[string]*Server, len(list))}
	for _, server := range list {
		if s.byName[server.Name] != nil {
			return nil, fmt.Errorf("mcp %q is configured twice", server.Name)
		}
		s.byName[server.Name] = server
		s.sorted = append(s.sorted, server)
	}
	slices.SortFunc(s.sorted, func(a, b *Server) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// Inherit takes over what is known of the health of servers from an earlier configuration, if they are at
// the same address. It must be called before requests use the servers.
func (s *Servers) Inherit(before *Servers) {
	for server := range s.All() {
		if old := before.Named(server.Name); old != nil && old.endpoint.address == server.endpoint.address {
			server.health = old.health
		}
	}
}

// Named returns the server with this name, nil if there is none. A nil Servers has none.
func (s *Servers) Named(name string) *Server {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// All yields the servers, sorted by name.
func (s *Servers) All() iter.Seq[*Server] {
	if s == nil {
		return func(func(*Server) bool) {}
	}
	return slices.Values(s.sorted)
}
