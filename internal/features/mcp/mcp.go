// Package mcp is the feature MCP of a gateway: servers of tools behind its keys and limits.
package mcp

import (
	"context"
	"net/netip"
	"sync/atomic"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/toolcall"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// Servers are the MCP servers of a configuration.
type Servers struct {
	// Calls is what requests to them use.
	Calls toolcall.Deps
	// BuiltIn returns the context of a request to a built-in server; nil: it is the request's.
	BuiltIn func(ctx context.Context, q *request.Request, client netip.AddrPort) context.Context

	requests *modelcall.Deps
	current  *atomic.Pointer[toolserver.Servers] // of the current configuration
}

// New returns the servers; nil: there are none.
func New(c gateway.Core, servers *toolserver.Servers) *Servers {
	s := &Servers{requests: c.Requests}
	s.current = gateway.Kept(c.Slots, func() *atomic.Pointer[toolserver.Servers] {
		return new(atomic.Pointer[toolserver.Servers])
	})
	calls := &s.Calls
	calls.Deps, calls.Servers, calls.Answers = &c.Requests.Deps, servers, c.Requests.Answers
	calls.Heartbeat = c.Requests.Timeouts.Heartbeat
	calls.Replaced, calls.WarnOfDemo = c.Replaced, c.WarnOfDemo
	calls.Holds = func(caller *request.Caller, server string) bool {
		now, err := c.Callers.CallerOf(caller.Tenant, caller.Name, caller.SecretHash())
		return err == nil && now.Has(keys.MCPCall) && now.AllowsServer(server)
	}
	return s
}

// Of returns the servers of a configuration, which are one of its features.
func Of(all []gateway.Feature) *Servers {
	for _, f := range all {
		if s, ok := f.Offers.(*Servers); ok {
			return s
		}
	}
	panic("mcp: there is no feature MCP") // a fault of who put the features together
}

// Feature returns the servers as a feature. What is known of their health outlives a configuration.
func (s *Servers) Feature() gateway.Feature {
	up := metrics.NewGauge("mcp_server_up", "1 if an MCP server works, 0 since its requests failed; servers that were asked.",
		[]string{"server"}, s.showUp)
	return gateway.Feature{
		Offers: s,
		Start: func(context.Context) {
			s.Calls.Owners = s.requests.Owners
			s.Calls.Servers.Inherit(s.current.Load())
		},
		Apply:  func() { s.current.Store(s.Calls.Servers) },
		Gauges: []metrics.Collector{up},
	}
}

func (s *Servers) showUp(put metrics.Show) {
	for server := range s.Calls.Servers.All() {
		if h := server.Health(); h.State != toolserver.Unknown {
			put(metrics.Number(h.State == toolserver.OK), server.Name)
		}
	}
}

// Serve runs a request from an address to the server with a name; see [toolcall.Serve].
func (s *Servers) Serve(q *request.Request, server string, client netip.AddrPort) error {
	return toolcall.Serve(&s.Calls, q, server, func(ctx context.Context) context.Context {
		if s.BuiltIn == nil {
			return ctx
		}
		return s.BuiltIn(ctx, q, client)
	})
}

// List returns the servers that are allowed, see [toolserver.Servers.Status].
func (s *Servers) List(allowed func(server string) bool) []toolserver.ServerStatus {
	return s.Calls.Servers.Status(allowed)
}

// Show returns what an operator sees: all servers, or with a name the tools of one.
func (s *Servers) Show(ctx context.Context, server string) (any, error) {
	if server == "" {
		return s.List(nil), nil
	}
	return s.Calls.Servers.Tools(ctx, server, s.Calls.Redactor.Text)
}
