package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/cloudauth"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/demo"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/desktops"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// MCPServer is a server of the Model Context Protocol, which callers reach at /mcp/NAME.
type MCPServer struct {
	// Name is the last part of its path. Required, unique, also among providers; a-z, 0-9 and "-".
	Name string `json:"name"`

	// Demo makes it the built-in server, which has the tools echo, time, slow and error, and needs no
	// network. Default: false.
	Demo bool `json:"demo,omitempty"`

	// Desktops makes it the built-in server with which models use the workstations of the caller's tenant.
	// The key needs the scope workstations:automate, too. Default: false.
	Desktops bool `json:"desktops,omitempty"`

	// URL is the address of the server's endpoint for Streamable HTTP. Required without Demo and Desktops.
	URL string `json:"url,omitempty"`

	// Region is AWS's, for auth aws. Default: AWS_REGION.
	Region string `json:"region,omitempty"`

	// Service is the name that requests are signed for, with auth aws. Default: bedrock-agentcore.
	Service string `json:"service,omitempty"`

	Access

	// ForwardHeader has the fields of a client's header that are passed on. Those with a credential are
	// not possible. Default: none.
	ForwardHeader []string `json:"forward_header,omitempty"`

	// Tools are those that can be called. Default: all.
	Tools ToolRights `json:"tools,omitzero"`

	// Timeouts of a request to the server.
	Timeouts MCPTimeouts `json:"timeouts,omitzero"`

	// MaxResult bounds an answer, or an event of a streamed one, in bytes: 1 KiB to 64 MiB. Default:
	// 4 MiB.
	MaxResult int64 `json:"max_result,omitempty"`

	// Prices are what calls of tools cost. The first that fits a tool applies. Default: tools are free.
	Prices []ToolPrice `json:"prices,omitempty"`

	// Rates are as in a key's caddykit.Nested, for requests of all callers together. Default: no limit.
	Rates []string `json:"rates,omitempty"`

	// Concurrency is as in a key's caddykit.Nested, for requests of all callers together. Default: no limit.
	Concurrency string `json:"concurrency,omitempty"`

	// Guardrails are the names of the guardrails that read what is sent to the server, and what it
	// answers. Default: those of the key and of the gateway.
	Guardrails []string `json:"guardrails,omitempty"`

	// TraceContext is as in a provider's block. Default: false.
	TraceContext bool `json:"trace_context,omitempty"`

	// TransportRaw is as in a provider's caddykit.Nested, except that idle connections are closed after 4 seconds.
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

// mcpIdle is how long an idle connection to an MCP server is kept. Most servers run on Node.js or uvicorn,
// which close one after 5 seconds: a call that is sent at that moment fails, and a call of a tool must not
// be sent twice.
const mcpIdle = 4 * time.Second

// builtInURL is the address of the built-in servers. Nothing is ever dialled.
const builtInURL = "http://built-in.invalid/mcp"

// desktopsResult is the longest result of the server of desktops by default: a picture.
const desktopsResult = 8 << 20

// builtIn is the built-in server that the block names, nil if it names none.
func (m *MCPServer) builtIn() http.RoundTripper {
	switch {
	case m.Demo:
		return demo.New(time.Now)
	case m.Desktops:
		return desktops.New()
	}
	return nil
}

// issuedTo returns the credentials that clouds and authorization servers give for MCP servers.
func issuedTo(servers *toolserver.Servers) (found []models.Issued) {
	for s := range servers.All() {
		if c, ok := s.Credential().(cloudauth.Credential); ok {
			found = append(found, models.Issued{Issued: c, Provider: s.Name})
		}
	}
	return found
}

// buildMCP makes the MCP servers. What authorizes the gateway at them is added to the accounts.
func buildMCP(a *App, accounts *accounts) (*toolserver.Servers, error) {
	var made []*toolserver.Server
	for i := range a.MCP {
		m := &a.MCP[i]
		server, err := m.build(a.ctx, accounts)
		if err == nil && slices.ContainsFunc(a.Providers, func(p Provider) bool { return p.Name == m.Name }) {
			err = errors.New("a provider has this name; choose another one, because records name both alike")
		}
		if err != nil {
			return nil, fmt.Errorf("mcp %q: %w", m.Name, err)
		}
		made = append(made, server)
	}
	return toolserver.NewServers(made)
}

func (m *MCPServer) build(ctx caddy.Context, accounts *accounts) (*toolserver.Server, error) {
	config := toolserver.Config{
		Name: m.Name, URL: m.URL, Forward: m.ForwardHeader, Tools: toolserver.Rights{Allow: m.Tools.Allow, Deny: m.Tools.Deny},
		MaxResult: m.MaxResult, TraceContext: m.TraceContext, UserAgent: userAgent, BuiltIn: m.Demo, Desktops: m.Desktops, Now: time.Now,
	}
	if err := setDurations(
		option{"connect", m.Timeouts.Connect, &config.Timeouts.Connect},
		option{"header", m.Timeouts.Header, &config.Timeouts.Header},
		option{"idle", m.Timeouts.Idle, &config.Timeouts.Idle},
		option{"call", m.Timeouts.Call, &config.Timeouts.Call},
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
	if config.Transport = m.builtIn(); config.Transport != nil {
		if m.Demo && m.Desktops || m.URL != "" || !m.keyless() || len(m.Query) > 0 || m.Region+m.Service != "" || m.TransportRaw != nil || m.TraceContext {
			return nil, errors.New("a built-in server, demo or desktops, takes no url, api_key, auth, oauth, header, query, region, service, transport or trace_context")
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
	if err := m.connect(ctx, accounts, &config); err != nil {
		return nil, err
	}
	return toolserver.New(config)
}

// usd is the unit of prices.
const usd = "usd"

// awsTools is the service of AWS that has MCP servers.
const awsTools = "bedrock-agentcore"

// connect adds the transports, and what lets the gateway in.
func (m *MCPServer) connect(ctx caddy.Context, accounts *accounts, config *toolserver.Config) error {
	if m.Region+m.Service != "" && (m.Auth == nil || m.Auth.AWS == nil) {
		return errors.New("region and service belong to auth aws")
	}
	var place Place
	if m.Auth != nil && m.Auth.AWS != nil {
		place = Place{Region: m.Region, Service: cmp.Or(m.Service, awsTools)}
	}
	access := m.Access
	if m.Auth != nil && m.Auth.OAuth != nil && m.Auth.OAuth.Resource == "" { // as MCP wants it
		client := *m.Auth.OAuth
		client.Resource = m.URL
		access.Auth = &Auth{Google: m.Auth.Google, AWS: m.Auth.AWS, Azure: m.Auth.Azure, OAuth: &client}
	}
	made, err := accounts.endpoint(fmt.Sprintf("mcp %q", m.Name), Account{BaseURL: m.URL, Place: place, Access: access})
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
	connections, err := newConnections(m.TransportRaw, config.Timeouts.Connect, m.URL)
	if err == nil {
		kept := connections.settings.KeepAlive
		kept.IdleConnTimeout = cmp.Or(kept.IdleConnTimeout, caddy.Duration(mcpIdle))
		config.Timeouts.Connect = connections.connect
		config.Transport, config.Fresh, err = connections.transports(ctx)
	}
	if err != nil {
		return fmt.Errorf("transport: %w", err)
	}
	return nil
}

// limits returns the limits of a server.
func (m *MCPServer) limits() (*limits.Subject, error) {
	s, err := Allowance{Rates: m.Rates, Concurrency: m.Concurrency}.subject(policy.ServerSubject(m.Name))
	if err != nil {
		return nil, fmt.Errorf("mcp %q: %w", m.Name, err)
	}
	return &s, nil
}

// tenantTools returns the patterns of tools of each tenant that has some.
func tenantTools(a *App) (map[string]pattern.List, error) {
	tools := make(map[string]pattern.List)
	for _, t := range a.Tenants {
		if err := checkTools(a, t.MCP); err != nil {
			return nil, fmt.Errorf("tenant %q: %w", t.Name, err)
		}
		if len(t.MCP) > 0 {
			tools[t.Name] = t.MCP
		}
	}
	return tools, nil
}

// checkTools returns an error for patterns of tools that name no server of the configuration.
func checkTools(a *App, patterns []string) error {
	err := keys.ValidTools(patterns, func(server string) bool {
		return slices.ContainsFunc(a.MCP, func(m MCPServer) bool { return m.Name == server })
	})
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}
