package runtimekeys

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// read reads the block:
//
//	runtime_keys {
//		scopes SCOPE…
//		models PATTERN…
//		mcp NAME [tools PATTERN…]   # any number
//		hosted_tools
//		unpriced allow
//		max COUNT
//		rate, concurrency, budget …
//		max_body, max_messages, max_tools, max_output_tokens …
//	}
func (r *RuntimeKeys) read(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.With(caddykit.Options{
		"scopes":       caddykit.Words(&r.Scopes),
		"models":       caddykit.Words(&r.Models),
		"mcp":          core.ToolLines(&r.MCP),
		"hosted_tools": caddykit.Flag(&r.HostedTools),
		"unpriced":     caddykit.Word(&r.Unpriced),
		"max":          caddykit.Value(&r.Max, caddykit.ParsePositive[int]),
	}, r.Allowance.Options(), r.Caps.Options()).Block(d)
}
