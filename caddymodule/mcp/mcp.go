// Package mcp is the blocks mcp of the configuration, servers of tools, with their endpoints.
package mcp

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/mcp" // its endpoints
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("mcp", func() core.Feature { return new(Feature) }, sources) }

// Feature is the member of the app.
type Feature struct {
	// MCP are the servers of tools. Default: none.
	MCP []MCPServer `json:"mcp,omitempty"`

	built *toolserver.Servers
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{"mcp": caddykit.Listed(&f.MCP, (*MCPServer).read)}
}

// Serves reports whether a server has the name.
func (f *Feature) Serves(name string) bool {
	return slices.ContainsFunc(f.MCP, func(m MCPServer) bool { return m.Name == name })
}

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) (err error) {
	var made []*toolserver.Server
	for i := range f.MCP {
		m := &f.MCP[i]
		server, err := m.build(b)
		if err == nil && slices.ContainsFunc(b.Settings.Providers, func(p core.Provider) bool { return p.Name == m.Name }) {
			err = errors.New("a provider has this name; choose another one, because records name both alike")
		}
		if err == nil {
			b.Config.Limits.Servers[m.Name], err = m.limits()
		}
		if err == nil {
			err = b.Guard(b.Config.Guardrails.Servers, m.Name, m.Guardrails)
		}
		if err != nil {
			return fmt.Errorf("mcp %q: %w", m.Name, err)
		}
		made = append(made, server)
	}
	if f.built, err = toolserver.NewServers(made); err != nil {
		return err
	}
	b.Config.Issued = append(b.Config.Issued, issuedTo(f.built)...)
	b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature { return mcp.New(c, f.built).Feature() })
	return nil
}

// MCPServer is a server of the Model Context Protocol, which callers reach at /mcp/NAME.
type MCPServer struct {
	// Name is the last part of its path. Required, unique, also among providers; a-z, 0-9 and "-".
	Name string `json:"name"`

	// Demo makes it the built-in server, which has the tools echo, time, slow and error, and needs
	// no network. Default: false.
	Demo bool `json:"demo,omitempty"`

	// Desktops makes it the built-in server with which models use the workstations of the caller's
	// tenant. The key needs the scope workstations:automate, too. Default: false.
	Desktops bool `json:"desktops,omitempty"`

	// URL is the address of the server's endpoint for Streamable HTTP. Required without Demo and
	// Desktops.
	URL string `json:"url,omitempty"`

	// Region is AWS's, for auth aws. Default: AWS_REGION.
	Region string `json:"region,omitempty"`

	// Service is the name that requests are signed for, with auth aws. Default: bedrock-agentcore.
	Service string `json:"service,omitempty"`

	core.Access

	// ForwardHeader has the fields of a client's header that are passed on. Those with a credential
	// are not possible. Default: none.
	ForwardHeader []string `json:"forward_header,omitempty"`

	// Tools are those that can be called. Default: all.
	Tools ToolRights `json:"tools,omitzero"`

	// Timeouts of a request to the server.
	Timeouts MCPTimeouts `json:"timeouts,omitzero"`

	// MaxResult bounds an answer, or an event of a streamed one, in bytes: 1 KiB to 64 MiB.
	// Default: 4 MiB.
	MaxResult int64 `json:"max_result,omitempty"`

	// Prices are what calls of tools cost. The first that fits a tool applies. Default: tools are
	// free.
	Prices []ToolPrice `json:"prices,omitempty"`

	// Rates are as in a key's block, for requests of all callers together. Default: no limit.
	Rates []string `json:"rates,omitempty"`

	// Concurrency is as in a key's block, for requests of all callers together. Default: no limit.
	Concurrency string `json:"concurrency,omitempty"`

	// Guardrails are the names of the guardrails that read what is sent to the server, and what it
	// answers. Default: those of the key and of the gateway.
	Guardrails []string `json:"guardrails,omitempty"`

	// TraceContext is as in a provider's block. Default: false.
	TraceContext bool `json:"trace_context,omitempty"`

	// TransportRaw is as in a provider's block, except that idle connections are closed after 4
	// seconds.
	TransportRaw json.RawMessage `json:"transport,omitempty" caddy:"namespace=http.reverse_proxy.transport inline_key=protocol"`
}

// ToolRights say which tools of a server can be called.
type ToolRights struct {
	// Allow are patterns over the names of tools. Default: all.
	Allow []string `json:"allow,omitempty"`

	// Deny are patterns of tools that cannot be called, even if Allow has them. Default: none.
	Deny []string `json:"deny,omitempty"`
}

// ToolPrice is what a call of some tools costs.
type ToolPrice struct {
	// Tool is a pattern over the names of tools. Required.
	Tool string `json:"tool"`

	// Price of a call: "0.01usd". Required.
	Price string `json:"price"`
}

// MCPTimeouts are those of a request to an MCP server; 0 takes the default.
type MCPTimeouts struct {
	// Connect is how long opening a connection may take, and then the TLS handshake. Default: 10s.
	Connect caddy.Duration `json:"connect,omitempty"`

	// Header is how long the answer may take to begin. Default: 5m.
	Header caddy.Duration `json:"header,omitempty"`

	// Idle is how long the server may be silent within an answer. Default: 5m.
	Idle caddy.Duration `json:"idle,omitempty"`

	// Call is how long a request and its answer may take together. Default: no limit.
	Call caddy.Duration `json:"call,omitempty"`
}

// mcpIdle is how long an idle connection to an MCP server is kept. Most servers run on Node.js or
// uvicorn, which close one after 5 seconds: a call that is sent at that moment fails, and a call of
// a tool must not be sent twice.
const mcpIdle = 4 * time.Second

// issuedTo returns the credentials that clouds and authorization servers give for MCP servers.
func issuedTo(servers *toolserver.Servers) (found []models.Issued) {
	for s := range servers.All() {
		if c, ok := s.Credential().(provider.Issued); ok {
			found = append(found, models.Issued{Issued: c, Provider: s.Name})
		}
	}
	return found
}

func (m *MCPServer) build(b *core.Build) (*toolserver.Server, error) {
	config := toolserver.Config{
		Name: m.Name, URL: m.URL, Forward: m.ForwardHeader, Tools: toolserver.Rights{Allow: m.Tools.Allow, Deny: m.Tools.Deny},
		MaxResult: m.MaxResult, TraceContext: m.TraceContext, UserAgent: core.UserAgent, BuiltIn: m.Demo, Desktops: m.Desktops, Now: time.Now,
	}
	if err := core.SetDurations(
		core.Duration{Name: "connect", Value: m.Timeouts.Connect, Dst: &config.Timeouts.Connect},
		core.Duration{Name: "header", Value: m.Timeouts.Header, Dst: &config.Timeouts.Header},
		core.Duration{Name: "idle", Value: m.Timeouts.Idle, Dst: &config.Timeouts.Idle},
		core.Duration{Name: "call", Value: m.Timeouts.Call, Dst: &config.Timeouts.Call},
	); err != nil {
		return nil, err
	}
	for _, p := range m.Prices {
		nano, err := limits.ParseMoney(strings.TrimSuffix(p.Price, usd))
		if err == nil && !strings.HasSuffix(p.Price, usd) {
			err = errors.New("the unit is missing")
		}
		if err != nil {
			return nil, fmt.Errorf("price %s %q: want an amount such as 0.01usd: %w", p.Tool, p.Price, err)
		}
		config.Prices = append(config.Prices, toolserver.Price{Pattern: p.Tool, Nano: nano})
	}
	builtIn, err := m.builtIn(b)
	if err != nil {
		return nil, err
	}
	if config.Transport = builtIn; builtIn != nil {
		if m.Demo && m.Desktops || m.URL != "" || !m.Keyless() || len(m.Query) > 0 || m.Region+m.Service != "" || m.TransportRaw != nil || m.TraceContext {
			return nil, errors.New("a built-in server, demo or desktops, takes no url, " +
				"api_key, auth, oauth, header, query, region, service, transport or trace_context")
		}
		config.URL = builtInURL
		if m.Desktops {
			config.MaxResult = cmp.Or(config.MaxResult, desktopsResult)
		}
		return toolserver.New(config)
	}
	if m.URL == "" {
		return nil, errors.New("url is missing; demo or desktops makes it a built-in server")
	}
	if err := m.connect(b, &config); err != nil {
		return nil, err
	}
	return toolserver.New(config)
}

// usd is the unit of prices.
const usd = "usd"

// awsTools is the service of AWS that has MCP servers.
const awsTools = "bedrock-agentcore"

// connect adds the transports, and what lets the gateway in.
func (m *MCPServer) connect(b *core.Build, config *toolserver.Config) error {
	if m.Region+m.Service != "" && !m.Auth.Of("aws") {
		return errors.New("region and service belong to auth aws")
	}
	var place core.Place
	if m.Auth.Of("aws") {
		place = core.Place{Region: m.Region, Service: cmp.Or(m.Service, awsTools)}
	}
	made, err := b.Endpoint(fmt.Sprintf("mcp %q", m.Name), core.Account{BaseURL: m.URL, Place: place, Access: m.Access}, m.URL)
	if err != nil {
		return err
	}
	if made.Credential != nil && made.Auth != nil {
		return errors.New("api_key, auth and oauth: give only one of them")
	}
	if config.Credential = made.Auth; made.Credential != nil {
		config.Credential = provider.NewAPIKey(made.Credential, provider.BearerField)
	}
	config.Header, config.Query = made.Header, made.Query
	connections, err := core.NewTransports(b.Ctx, m.TransportRaw, config.Timeouts.Connect, mcpIdle, m.URL)
	if err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	config.Timeouts.Connect, config.Transport, config.Fresh = connections.Connect, connections.Kept, connections.Fresh
	return nil
}

// limits returns the limits of a server.
func (m *MCPServer) limits() (*limits.Subject, error) {
	s, err := core.Subject(core.Allowance{Rates: m.Rates, Concurrency: m.Concurrency}, policy.ServerSubject(m.Name))
	if err != nil {
		return nil, err
	}
	return &s, nil
}
