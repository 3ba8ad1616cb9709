package caddymodule

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// options returns the options of an allowance:
//
//	rate COUNT[ tokens]/WINDOW            # any number
//	concurrency LIMIT [queue LENGTH WAIT]
//	budget AMOUNTusd/PERIOD [soft]        # any number; or COUNT tokens/PERIOD
func (a *Allowance) options() caddykit.Options {
	return caddykit.Options{
		"rate":        phrases(&a.Rates),
		"concurrency": phrase(&a.Concurrency),
		"budget":      phrases(&a.Budgets),
	}
}

// options returns the options of caps:
//
//	max_body SIZE
//	max_messages COUNT
//	max_tools COUNT
//	max_output_tokens COUNT [clamp]
func (c *Caps) options() caddykit.Options {
	return caddykit.Options{
		"max_body":     caddykit.Value(&c.MaxBody, parseSize),
		"max_messages": caddykit.Value(&c.MaxMessages, parsePositive[int]),
		"max_tools":    caddykit.Value(&c.MaxTools, parsePositive[int]),
		"max_output_tokens": {Read: func(d *caddyfile.Dispenser) (err error) {
			args := d.RemainingArgs()
			if len(args) == 2 && args[1] == "clamp" {
				c.ClampOutput = true
			} else if len(args) != 1 {
				return d.ArgErr()
			}
			if c.MaxOutputTokens, err = parsePositive[int64](args[0]); err != nil {
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
	return with(caddykit.Options{"mcp": toolLines(&t.MCP), "session": sessionOption(&t.Session)}, t.options()).Block(d)
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
	options := m.Caps.options()
	options["rate"], options["concurrency"] = phrases(&m.Rates), phrase(&m.Concurrency)
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

// phrase is an option whose arguments form one text.
func phrase(dst *string) caddykit.Option {
	return caddykit.Option{Read: func(d *caddyfile.Dispenser) error {
		args := d.RemainingArgs()
		if len(args) == 0 {
			return d.ArgErr()
		}
		*dst = strings.Join(args, " ")
		return nil
	}}
}

// phrases is a phrase that may be repeated.
func phrases(dst *[]string) caddykit.Option {
	return caddykit.Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		var text string
		if err := phrase(&text).Read(d); err != nil {
			return err
		}
		*dst = append(*dst, text)
		return nil
	}}
}

// with adds the options of others.
func with(options caddykit.Options, others ...caddykit.Options) caddykit.Options {
	for _, other := range others {
		maps.Copy(options, other)
	}
	return options
}

func parsePositive[T int | int64](text string) (T, error) {
	n, err := strconv.ParseInt(text, 10, 48)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: want a whole number, 1 or more", text)
	}
	return T(n), nil
}
