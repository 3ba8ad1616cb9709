package mcp

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveMCPServers lists the MCP servers that the key reaches, with their health.
func serveMCPServers(x *handlers.Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	return x.Reply(http.StatusOK, handlers.List(gateway.Servers(x.Gateway, x.Req.Caller.AllowsServer)))
}
