package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const serverPrefix = "mcp:"

// ServerSubject names the limits of an MCP server.
func ServerSubject(server string) string { return serverPrefix + server }

// Server returns the name of the MCP server that is limited; ok is false for other subjects.
func (l Limited) Server() (name string, ok bool) { return strings.CutPrefix(l.Name, serverPrefix) }

// Server returns the limits of an MCP server that all callers share, nil if it has none. They must not be
// changed.
func (l *Limits) Server(name string) *limits.Subject {
	s := l.Servers[name]
	if s == nil || isUnlimited(*s) {
		return nil
	}
	return s
}

// checkServers refuses limits that cannot bound calls of tools.
func (l *Limits) checkServers() error {
	for name, s := range l.Servers {
		if err := s.Check(); err != nil {
			return fmt.Errorf("mcp %q: %w", name, err)
		}
		if len(s.Budgets) > 0 {
			return fmt.Errorf("mcp %q: budgets belong to keys, tenants and the gateway", name)
		}
		if slices.ContainsFunc(s.Rates, func(r limits.Rate) bool { return r.Unit == limits.Tokens }) {
			return fmt.Errorf("mcp %q: tools use no tokens: give a rate of requests", name)
		}
	}
	return nil
}

// OfServer returns the guardrails of a key's requests to an MCP server: those of the key, of the server
// and of the gateway. Nil: none.
func (g *Guardrails) OfServer(key, server string) guardrail.Set {
	return g.join(key, server, func(string) bool { return false })
}
