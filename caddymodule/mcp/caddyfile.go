package mcp

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// read reads one MCP server:
//
//	mcp NAME {
//		url URL
//		demo | desktops               # instead of url and all that follows from it
//		api_key {env.NAME}
//		oauth client_credentials { … }   # instead of api_key
//		auth google|aws|azure { … }      # instead of api_key
//		region | service VALUE           # of auth aws
//		header NAME VALUE             # any number
//		query NAME VALUE              # any number
//		forward_header NAME…
//		tools allow|deny PATTERN…     # any number
//		timeouts {
//			connect | header | idle | call DURATION
//		}
//		max_result SIZE
//		price TOOL AMOUNTusd          # any number
//		rate | concurrency …
//		guardrails NAME…
//		trace_context
//		transport http { … }
//	}
func (m *MCPServer) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&m.Name) {
		return d.ArgErr()
	}
	return caddykit.With(caddykit.Options{
		"url":            caddykit.Word(&m.URL),
		"demo":           caddykit.Flag(&m.Demo),
		"desktops":       caddykit.Flag(&m.Desktops),
		"region":         caddykit.Word(&m.Region),
		"service":        caddykit.Word(&m.Service),
		"forward_header": caddykit.Words(&m.ForwardHeader),
		"tools":          {Many: true, Read: m.Tools.read},
		"timeouts": caddykit.Nested(caddykit.Options{
			"connect": caddykit.Value(&m.Timeouts.Connect, caddykit.ParseDuration),
			"header":  caddykit.Value(&m.Timeouts.Header, caddykit.ParseDuration),
			"idle":    caddykit.Value(&m.Timeouts.Idle, caddykit.ParseDuration),
			"call":    caddykit.Value(&m.Timeouts.Call, caddykit.ParseDuration),
		}),
		"max_result":    caddykit.Value(&m.MaxResult, caddykit.ParseSize),
		"price":         {Many: true, Read: m.readPrice},
		"rate":          caddykit.Phrases(&m.Rates),
		"concurrency":   caddykit.Phrase(&m.Concurrency),
		"guardrails":    caddykit.Words(&m.Guardrails),
		"trace_context": caddykit.Flag(&m.TraceContext),
		"transport":     core.TransportOption(&m.TransportRaw),
	}, m.Access.Options()).Block(d)
}

func (r *ToolRights) read(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) < 2 {
		return d.ArgErr()
	}
	switch args[0] {
	case "allow":
		r.Allow = append(r.Allow, args[1:]...)
	case "deny":
		r.Deny = append(r.Deny, args[1:]...)
	default:
		return d.Errf("tools %q: want allow or deny", args[0])
	}
	return nil
}

func (m *MCPServer) readPrice(d *caddyfile.Dispenser) error {
	var p ToolPrice
	if !d.AllArgs(&p.Tool, &p.Price) {
		return d.ArgErr()
	}
	m.Prices = append(m.Prices, p)
	return nil
}
