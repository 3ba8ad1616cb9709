package mcp

import (
	"context"
	"errors"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/inspect"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/client"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// Inspect adds what commands see of the servers, and of the keys that may use them.
func (f *Feature) Inspect(c *inspect.Config) {
	for _, m := range f.MCP {
		c.MCP = append(c.MCP, inspect.MCPServer{
			Name: m.Name, URL: m.URL, APIKey: m.APIKey, Keyless: m.Keyless(), Demo: m.Demo, Desktops: m.Desktops,
			Ask: func(ctx context.Context) (int, error) { return toolsOf(ctx, f.built.Named(m.Name)) },
		})
	}
	for i := range c.Keys {
		k := &c.Keys[i]
		if len(k.MCP) == 0 { // most keys, and they are not found by an index
			continue
		}
		found, _ := c.Built.Keyring.Named(k.Name)
		for s := range f.built.All() {
			if found.AllowsServer(s.Name) {
				k.Reaches = append(k.Reaches, s.Name)
			}
		}
	}
}

// toolsOf asks a server how many tools it has.
func toolsOf(ctx context.Context, s *toolserver.Server) (int, error) {
	c, err := client.Connect(ctx, s.Send)
	if err != nil {
		return 0, err
	}
	tools, err := c.Tools(ctx)
	return len(tools), errors.Join(err, c.Close(ctx))
}
