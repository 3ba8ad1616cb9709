package core

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// options returns the options of an allowance:
//
//	rate COUNT[ tokens]/WINDOW            # any number
//	concurrency LIMIT [queue LENGTH WAIT]
//	budget AMOUNTusd/PERIOD [soft]        # any number; or COUNT tokens/PERIOD
func (a *Allowance) Options() caddykit.Options {
	return caddykit.Options{
		"rate":        caddykit.Phrases(&a.Rates),
		"concurrency": caddykit.Phrase(&a.Concurrency),
		"budget":      caddykit.Phrases(&a.Budgets),
	}
}

// options returns the options of caps:
//
//	max_body SIZE
//	max_messages COUNT
//	max_tools COUNT
//	max_output_tokens COUNT [clamp]
func (c *Caps) Options() caddykit.Options {
	return caddykit.Options{
		"max_body":     caddykit.Value(&c.MaxBody, caddykit.ParseSize),
		"max_messages": caddykit.Value(&c.MaxMessages, caddykit.ParsePositive[int]),
		"max_tools":    caddykit.Value(&c.MaxTools, caddykit.ParsePositive[int]),
		"max_output_tokens": {Read: func(d *caddyfile.Dispenser) (err error) {
			args := d.RemainingArgs()
			if len(args) == 2 && args[1] == "clamp" {
				c.ClampOutput = true
			} else if len(args) != 1 {
				return d.ArgErr()
			}
			if c.MaxOutputTokens, err = caddykit.ParsePositive[int64](args[0]); err != nil {
				return d.Errf("%v", err)
			}
			return nil
		}},
	}
}

// read reads a tenant:
//
//	tenant NAME {
//		mcp NAME [tools PATTERN…]   # any number
//		rate | concurrency | budget …
//		session { … }
//	}
func (t *Tenant) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&t.Name) {
		return d.ArgErr()
	}
	return caddykit.With(caddykit.Options{"mcp": ToolLines(&t.MCP), "session": sessionOption(&t.Session)}, t.Options()).Block(d)
}

// read reads the limits of some models:
//
//	model PATTERN {
//		rate | concurrency …
//		max_body | max_messages | max_tools | max_output_tokens …
//		guardrails NAME…
//	}
func (m *ModelLimit) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&m.Pattern) {
		return d.ArgErr()
	}
	options := m.Caps.Options()
	options["rate"], options["concurrency"] = caddykit.Phrases(&m.Rates), caddykit.Phrase(&m.Concurrency)
	options["guardrails"] = caddykit.Words(&m.Guardrails)
	return options.Block(d)
}

// readDisconnect reads what happens to a call whose client disconnects:
//
//	on_disconnect cancel | drain DURATION
func (l *LimitPolicy) readDisconnect(d *caddyfile.Dispenser) (err error) {
	args := d.RemainingArgs()
	switch {
	case len(args) == 1 && args[0] == "cancel":
	case len(args) == 2 && args[0] == "drain":
		if l.Drain, err = caddykit.ParseDuration(args[1]); err != nil {
			return d.Errf("%v", err)
		}
	default:
		return d.ArgErr()
	}
	return nil
}
