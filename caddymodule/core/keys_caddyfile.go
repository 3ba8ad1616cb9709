package core

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// read reads one key:
//
//	key NAME {
//		secret {env.NAME}…       # several for rotation
//		hash sha256:HEX…
//		scopes SCOPE…
//		tenant NAME
//		models PATTERN…
//		mcp NAME [tools PATTERN…]   # any number
//		expires DATE
//		disabled
//		hosted_tools
//		all_tenants
//		rate, concurrency, budget …
//		max_body, max_messages, max_tools, max_output_tokens …
//		guardrails NAME…
//		unpriced allow
//		session { … }
//	}
func (k *Key) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&k.Name) {
		return d.ArgErr()
	}
	return caddykit.With(caddykit.Options{
		"secret":   caddykit.Words(&k.Secrets),
		"hash":     caddykit.Words(&k.Hashes),
		"expires":  caddykit.Word(&k.Expires),
		"disabled": caddykit.Flag(&k.Disabled),
		"session":  sessionOption(&k.Session),
	}, k.Rights.Options()).Block(d)
}

// Options are those of a key and of a role.
func (r *Rights) Options() caddykit.Options {
	return caddykit.With(caddykit.Options{
		"scopes":       caddykit.Words(&r.Scopes),
		"tenant":       caddykit.Word(&r.Tenant),
		"models":       caddykit.Words(&r.Models),
		"mcp":          ToolLines(&r.MCP),
		"hosted_tools": caddykit.Flag(&r.HostedTools),
		"all_tenants":  caddykit.Flag(&r.AllTenants),
		"guardrails":   caddykit.Words(&r.Guardrails),
		"unpriced":     caddykit.Word(&r.Unpriced),
	}, r.Allowance.Options(), r.Caps.Options())
}
