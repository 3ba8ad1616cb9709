package core

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// TenantTools returns the patterns of tools of each tenant that has some.
func (b *Build) TenantTools() (map[string]pattern.List, error) {
	tools := make(map[string]pattern.List)
	for _, t := range b.Settings.Tenants {
		if err := b.CheckTools(t.MCP); err != nil {
			return nil, fmt.Errorf("tenant %q: %w", t.Name, err)
		}
		if len(t.MCP) > 0 {
			tools[t.Name] = t.MCP
		}
	}
	return tools, nil
}

// CheckTools returns an error for patterns of tools that name no server of the configuration.
func (b *Build) CheckTools(patterns []string) error {
	err := keys.ValidTools(patterns, b.Serves)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	return nil
}

// ToolLines is the option of keys and tenants for the tools of a server:
//
//	mcp NAME [tools PATTERN…]    # any number
func ToolLines(dst *[]string) caddykit.Option {
	return caddykit.Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		args := d.RemainingArgs()
		if len(args) == 0 || len(args) == 2 || len(args) > 2 && args[1] != "tools" {
			return d.ArgErr()
		}
		if err := provider.ValidName("mcp", args[0]); err != nil {
			return d.Errf("%v", err)
		}
		server := args[0] + "/"
		for _, p := range *dst {
			if strings.HasPrefix(p, server) {
				return d.Errf("mcp %s is given twice", args[0])
			}
		}
		if len(args) == 1 {
			args = append(args, "tools", "*")
		}
		for _, tool := range args[2:] {
			*dst = append(*dst, server+tool)
		}
		return nil
	}}
}
