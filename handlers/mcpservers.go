package handlers

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// serveMCPServers lists the MCP servers that the key reaches, with their health.
func serveMCPServers(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	return x.reply(http.StatusOK, listOf(gateway.Servers(x.gateway, x.req.Caller.AllowsServer)))
}
