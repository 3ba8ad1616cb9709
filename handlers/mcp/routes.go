// Package mcp has the endpoints of MCP: the servers of tools, and their list.
package mcp

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

var (
	serversEndpoint   = &handlers.Operation{Name: "mcp_servers", Method: http.MethodGet, Scope: keys.MCPCall, Serve: serveMCPServers}
	mcpEndpoint       = &handlers.Operation{Name: "mcp", Method: http.MethodPost, Scope: keys.MCPCall, Recorded: true, Serve: serveMCP}
	mcpStreamEndpoint = &handlers.Operation{Name: "mcp", Method: http.MethodGet, Scope: keys.MCPCall, Recorded: true, Serve: serveMCP}
	mcpEndEndpoint    = &handlers.Operation{Name: "mcp", Method: http.MethodDelete, Scope: keys.MCPCall, Recorded: true, Serve: serveMCP}
)

func init() {
	handlers.Register(
		handlers.Route{Path: "/v1/mcp", API: api.OpenAI{}, Operation: serversEndpoint},
		handlers.Route{Path: "/mcp/{id}", API: api.MCP{}, Operation: mcpEndpoint},
		handlers.Route{Path: "/mcp/{id}", API: api.MCP{}, Operation: mcpStreamEndpoint},
		handlers.Route{Path: "/mcp/{id}", API: api.MCP{}, Operation: mcpEndEndpoint},
	)
}
