package gateway

import (
	"context"
	"net/netip"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/desktops"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/toolcall"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// ServeTools runs a request from an address to the MCP server with a name; see [toolcall.Serve]. Ready must
// have returned.
func ServeTools(g *Gateway, q *request.Request, server string, client netip.AddrPort) error {
	return toolcall.Serve(&g.tools, q, server, func(ctx context.Context) context.Context {
		return desktops.With(ctx, ownDesktops{g.VNC(), q, client})
	})
}

// prepareTools fills in what requests to MCP servers use, but for the stores.
func prepareTools(g *Gateway, servers *toolserver.Servers) {
	t := &g.tools
	t.Deps, t.Servers, t.Answers = &g.requests.Deps, servers, g.requests.Answers
	t.Heartbeat = g.requests.Timeouts.Heartbeat
	t.Replaced, t.WarnOfDemo = g.generation.retired, g.warnOfDemo
	t.Holds = func(caller *request.Caller, server string) bool {
		now, err := g.callerOf(caller.Tenant, caller.Name, caller.SecretHash())
		return err == nil && now.Has(keys.MCPCall) && now.AllowsServer(server)
	}
}
