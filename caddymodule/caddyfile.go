package caddymodule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/dustin/go-humanize"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

func init() {
	httpcaddyfile.RegisterGlobalOption(caddykit.AppName, parseGlobalOption)
}

func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		return nil, d.Errf("the global option %s stands twice", caddykit.AppName)
	}
	app := new(App)
	if err := app.UnmarshalCaddyfile(d); err != nil {
		return nil, err
	}
	return httpcaddyfile.App{Name: caddykit.AppName, Value: caddyconfig.JSON(app, nil)}, nil
}

// UnmarshalCaddyfile reads the global option:
//
//	gatehouse {
//		key NAME { … }          # any number
//		provider NAME { … }     # any number
//		tenant NAME { … }       # any number
//		model PATTERN { … }     # any number
//		guardrail NAME { … }    # any number
//		guardrails NAME…        # of those that read every call
//		rate, concurrency, budget …
//		on_store_failure open | closed
//		on_disconnect cancel | drain DURATION
//		catalog FILE…
//		data_dir PATH
//		body_memory SIZE
//		timeouts {
//			body | header | idle | commit_after | heartbeat DURATION
//		}
//		activity {
//			keep DURATION
//			max_size SIZE
//		}
//		vnc { … }
//	}
func (a *App) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() {
		return d.ArgErr()
	}
	return with(caddykit.Options{
		"key":      {Many: true, Read: a.readKey},
		"provider": {Many: true, Read: a.readProvider},
		"tenant":   {Many: true, Read: a.readTenant},
		"model":    {Many: true, Read: a.readModel},

		"guardrail":  {Many: true, Read: a.readGuardrail},
		"guardrails": caddykit.Words(&a.GuardrailsOnAll),

		"on_store_failure": caddykit.Word(&a.OnStoreFailure),
		"on_disconnect":    {Read: a.readDisconnect},

		"catalog":     caddykit.Words(&a.Catalogs),
		"data_dir":    caddykit.Word(&a.DataDir),
		"body_memory": caddykit.Value(&a.BodyMemory, parseSize),
		"timeouts": block(caddykit.Options{
			"body":         caddykit.Value(&a.Timeouts.Body, caddykit.ParseDuration),
			"header":       caddykit.Value(&a.Timeouts.Header, caddykit.ParseDuration),
			"idle":         caddykit.Value(&a.Timeouts.Idle, caddykit.ParseDuration),
			"commit_after": caddykit.Value(&a.Timeouts.CommitAfter, caddykit.ParseDuration),
			"heartbeat":    caddykit.Value(&a.Timeouts.Heartbeat, caddykit.ParseDuration),
		}),
		"activity": block(caddykit.Options{
			"keep":     caddykit.Value(&a.Activity.Age, caddykit.ParseDuration),
			"max_size": caddykit.Value(&a.Activity.Size, parseSize),
		}),
		"vnc": {Read: a.readVNC},
	}, a.Allowance.options()).Block(d)
}

// readKey reads one key:
//
//	key NAME {
//		secret {env.NAME}…       # several for rotation
//		hash sha256:HEX…
//		scopes SCOPE…
//		tenant NAME
//		models PATTERN…
//		expires DATE
//		disabled
//		hosted_tools
//		rate, concurrency, budget …
//		max_body, max_messages, max_tools, max_output_tokens …
//		guardrails NAME…
//		unpriced allow
//	}
func (a *App) readKey(d *caddyfile.Dispenser) error {
	var k Key
	if !d.AllArgs(&k.Name) {
		return d.ArgErr()
	}
	err := with(caddykit.Options{
		"secret":       caddykit.Words(&k.Secrets),
		"hash":         caddykit.Words(&k.Hashes),
		"scopes":       caddykit.Words(&k.Scopes),
		"tenant":       caddykit.Word(&k.Tenant),
		"models":       caddykit.Words(&k.Models),
		"expires":      caddykit.Word(&k.Expires),
		"disabled":     caddykit.Flag(&k.Disabled),
		"hosted_tools": caddykit.Flag(&k.HostedTools),
		"guardrails":   caddykit.Words(&k.Guardrails),
		"unpriced":     caddykit.Word(&k.Unpriced),
	}, k.Allowance.options(), k.Caps.options()).Block(d)
	a.Keys = append(a.Keys, k)
	return err
}

// readProvider reads one provider:
//
//	provider NAME {
//		dialect openai|openrouter|test
//		base_url URL
//		api_key {env.NAME}
//		optional
//		models PATTERN…
//		catalog_name NAME
//		chat native|translate
//		responses native
//		max_tokens_field max_tokens|max_completion_tokens
//		responses translate {
//			developer_role
//			reasoning_content
//		}
//		discover DURATION|off
//		account_of TENANT
//		cost reported
//		transport http { … }
//	}
func (a *App) readProvider(d *caddyfile.Dispenser) error {
	var p Provider
	if !d.AllArgs(&p.Name) {
		return d.ArgErr()
	}
	err := caddykit.Options{
		"dialect":          caddykit.Word(&p.Dialect),
		"base_url":         caddykit.Word(&p.BaseURL),
		"api_key":          caddykit.Word(&p.APIKey),
		"optional":         caddykit.Flag(&p.Optional),
		"models":           caddykit.Words(&p.Models),
		"catalog_name":     caddykit.Word(&p.CatalogName),
		"chat":             caddykit.Word(&p.Chat),
		"responses":        {Read: p.readResponses},
		"max_tokens_field": caddykit.Word(&p.MaxTokensField),
		"discover":         caddykit.Value(&p.Discover, p.parseDiscover),
		"account_of":       caddykit.Word(&p.AccountOf),
		"cost":             caddykit.Word(&p.Cost),
		"transport":        {Read: p.readTransport},
	}.Block(d)
	a.Providers = append(a.Providers, p)
	return err
}

func (p *Provider) readResponses(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&p.Responses) {
		return d.ArgErr()
	}
	return caddykit.Options{
		"developer_role":    caddykit.Flag(&p.Translate.DeveloperRole),
		"reasoning_content": caddykit.Flag(&p.Translate.ReasoningContent),
	}.Block(d)
}

func (p *Provider) parseDiscover(text string) (caddy.Duration, error) {
	if p.DiscoverOff = text == "off"; p.DiscoverOff {
		return 0, nil
	}
	every, err := caddykit.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("discover %q: want a duration, or off", text)
	}
	return every, nil
}

func (p *Provider) readTransport(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.ArgErr()
	}
	name := d.Val()
	if name != "http" {
		return d.Errf("transport %q: only http is possible", name)
	}
	module, err := caddyfile.UnmarshalModule(d, httpTransport)
	if err != nil {
		return err
	}
	p.TransportRaw = caddyconfig.JSONModuleObject(module, "protocol", name, nil)
	return nil
}

// block is an option whose own block has these options.
func block(options caddykit.Options) caddykit.Option {
	return caddykit.Option{Read: func(d *caddyfile.Dispenser) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		return options.Block(d)
	}}
}

// parseSize reads bytes, with a unit: 512MiB, 10GB.
func parseSize(text string) (int64, error) {
	size, err := humanize.ParseBytes(strings.TrimSpace(text))
	if err != nil || size == 0 || size > 1<<62 {
		return 0, fmt.Errorf("size %s: want bytes with a unit, such as 512MiB", strconv.Quote(text))
	}
	return int64(size), nil
}

var _ caddyfile.Unmarshaler = (*App)(nil)
