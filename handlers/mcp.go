package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveMCP relays a request to the MCP server that the path names.
func serveMCP(x *apiRequest) error {
	return gateway.ServeTools(x.gateway, x.req, x.name, caddykit.ClientAddr(x.r))
}
