package handlers

import "net/http"

// serveMCPServers lists the MCP servers that the key reaches, with their health.
func serveMCPServers(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	return x.reply(http.StatusOK, listOf(x.gateway.Servers(x.req.Caller.AllowsServer)))
}
