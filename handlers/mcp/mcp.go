package mcp

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/mcp"
)

// serveMCP relays a request to the MCP server that the path names.
func serveMCP(x *handlers.Request) error {
	servers, err := handlers.Part[*mcp.Servers](x)
	if err != nil {
		return err
	}
	return servers.Serve(x.Req, x.Name, caddykit.ClientAddr(x.HTTP))
}

// serveMCPServers lists the MCP servers that the key reaches, with their health.
func serveMCPServers(x *handlers.Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	servers, err := handlers.Part[*mcp.Servers](x)
	if err != nil {
		return err
	}
	return x.Reply(http.StatusOK, handlers.List(servers.List(x.Req.Caller.AllowsServer)))
}
