package mcp

import (
	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveMCP relays a request to the MCP server that the path names.
func serveMCP(x *handlers.Request) error {
	return gateway.ServeTools(x.Gateway, x.Req, x.Name, caddykit.ClientAddr(x.HTTP))
}
