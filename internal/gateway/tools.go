package gateway

import (
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/toolcall"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// Tools serves the MCP servers of this configuration. Its stores are there once Ready has returned.
func (g *Gateway) Tools() *toolcall.Service { return &g.tools }

// prepareTools fills in what requests to MCP servers use, but for the stores.
func prepareTools(g *Gateway, servers *toolserver.Servers) {
	t := &g.tools
	t.Deps, t.Servers, t.Answers = &g.requests.Deps, servers, g.requests.Answers
	t.Replaced, t.WarnOfDemo = g.generation.retired, g.warnOfDemo
	t.Holds = func(caller *request.Caller, server string) bool {
		now, err := g.callerOf(caller.Tenant, caller.Name, caller.SecretHash())
		return err == nil && now.Has(keys.MCPCall) && now.AllowsServer(server)
	}
}
