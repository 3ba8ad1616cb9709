package gateway

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/client"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// ServerStatus is an MCP server as the list of servers shows it.
type ServerStatus struct {
	ID     string `json:"id"`     // the name of its block
	Object string `json:"object"` // "mcp_server"
	URL    string `json:"url"`    // its path at the gateway
	Status string `json:"status"` // ok, failing, unknown: see package toolserver
	// LastError is the code of the last failure, also of a server that answers again; null for none.
	LastError *string    `json:"last_error"`
	Since     *time.Time `json:"since"`     // when the status began; null for unknown
	InFlight  int        `json:"in_flight"` // requests and streams under way
}

// Servers lists the MCP servers of a gateway that are allowed, by name. A nil allowed allows all.
func Servers(g *Gateway, allowed func(server string) bool) []ServerStatus {
	list := []ServerStatus{}
	for s := range g.tools.Servers.All() {
		if allowed != nil && !allowed(s.Name) {
			continue
		}
		h := s.Health()
		list = append(list, ServerStatus{
			ID: s.Name, Object: "mcp_server", URL: "/mcp/" + s.Name, Status: string(h.State), LastError: orNull(h.LastError),
			Since: timeOrNull(h.Since), InFlight: h.InFlight,
		})
	}
	return list
}

// serversUp is what the metric shows: servers that were asked.
func serversUp(current *generation) (up []metrics.ServerUp) {
	if current != nil {
		for server := range current.gateway.tools.Servers.All() {
			if h := server.Health(); h.State != toolserver.Unknown {
				up = append(up, metrics.ServerUp{Server: server.Name, Up: h.State == toolserver.OK})
			}
		}
	}
	return up
}

// ServerTools are the tools of an MCP server, as an operator sees them.
type ServerTools struct {
	ID      string       `json:"id"`      // of the server
	Version string       `json:"version"` // of MCP that gateway and server speak
	Tools   []ToolStatus `json:"tools"`
}

// ToolStatus is a tool, with what the block of its server says of it.
type ToolStatus struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Allowed     bool   `json:"allowed"`  // by the server's block; tenants and keys may allow less
	CostUSD     string `json:"cost_usd"` // of a call, a decimal number
}

// askWithin bounds how long a server may take to list its tools.
const askWithin = 30 * time.Second

// ToolsOf asks an MCP server for all of its tools, with the gateway's own credential. Errors: 404, and
// 502 with what the server did wrong.
func ToolsOf(ctx context.Context, g *Gateway, server string) (*ServerTools, error) {
	s := g.tools.Servers.Named(server)
	if s == nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no MCP server %q", server)
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	version, tools, err := client.List(ctx, s.Send)
	if err != nil {
		return nil, apierror.New(apierror.UpstreamError, "the MCP server %q does not list its tools: %s", server, g.requests.Redactor.Text(err.Error()))
	}
	list := &ServerTools{ID: server, Version: version, Tools: make([]ToolStatus, len(tools))}
	for i, t := range tools {
		nano := s.Price(t.Name)
		list.Tools[i] = ToolStatus{t.Name, t.Title, t.Description, s.AllowsTool(t.Name), limits.FormatMoney(nano)}
	}
	return list, nil
}
