package toolserver

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/client"
)

// ServerStatus is an MCP server as the list of servers shows it.
type ServerStatus struct {
	ID     string `json:"id"`     // the name of its block
	Object string `json:"object"` // "mcp_server"
	URL    string `json:"url"`    // its path at the gateway
	Status string `json:"status"` // ok, failing, unknown: see package toolserver
	// LastError is the code of the last failure, also of one that answers again; null for none.
	LastError *string    `json:"last_error"`
	Since     *time.Time `json:"since"`     // when the status began; null for unknown
	InFlight  int        `json:"in_flight"` // requests and streams under way
}

// Status lists the servers that are allowed, by name. A nil allowed allows all.
func (s *Servers) Status(allowed func(server string) bool) []ServerStatus {
	list := []ServerStatus{}
	for server := range s.All() {
		if allowed == nil || allowed(server.Name) {
			list = append(list, server.status())
		}
	}
	return list
}

func (s *Server) status() ServerStatus {
	h := s.Health()
	shown := ServerStatus{ID: s.Name, Object: "mcp_server", URL: "/mcp/" + s.Name, Status: string(h.State), InFlight: h.InFlight}
	if h.LastError != "" {
		shown.LastError = &h.LastError
	}
	if !h.Since.IsZero() {
		since := h.Since.UTC()
		shown.Since = &since
	}
	return shown
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

// Tools asks a server for all of its tools, with the gateway's own credential. Redact takes
// secrets out of what the server says. Errors: 404, and 502 with what the server did wrong.
func (s *Servers) Tools(ctx context.Context, name string, redact func(text string) string) (*ServerTools, error) {
	server := s.Named(name)
	if server == nil {
		return nil, apierror.New(apierror.NotFound, "the running configuration has no MCP server %q", name)
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	version, tools, err := client.List(ctx, server.Send)
	if err != nil {
		return nil, apierror.New(apierror.UpstreamError, "the MCP server %q does not list its tools: %s", name, redact(err.Error()))
	}
	list := &ServerTools{ID: name, Version: version, Tools: make([]ToolStatus, len(tools))}
	for i, t := range tools {
		nano := server.Price(t.Name)
		list.Tools[i] = ToolStatus{t.Name, t.Title, t.Description, server.AllowsTool(t.Name), limits.FormatMoney(nano)}
	}
	return list, nil
}
