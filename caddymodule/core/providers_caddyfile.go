package core

import (
	"encoding/json"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// read reads one provider:
//
//	provider NAME {
//		dialect openai|openrouter|anthropic|gemini|vertex-anthropic|bedrock|bedrock-anthropic|test
//		base_url URL
//		project | location | api_version | region | service | resource VALUE
//		api_key {env.NAME}
//		auth google|aws|azure { … }   # instead of api_key
//		oauth client_credentials { … }
//		header NAME VALUE             # any number
//		query NAME VALUE              # any number
//		endpoint NAME {               # any number
//			base_url | project … | api_key | auth | header | query …
//		}
//		optional
//		models PATTERN…
//		deployments NAME MODEL        # any number
//		catalog_name NAME
//		chat native|translate
//		responses native
//		max_tokens_field max_tokens|max_completion_tokens
//		responses translate {
//			developer_role
//			reasoning_content
//			unknown_tools drop|refuse
//		}
//		messages native|translate
//		discover DURATION|off
//		account_of TENANT
//		cost reported
//		price_variant regional|priority|flex
//		betas NAME…
//		trace_context
//		timeouts {
//			connect | first_byte | whole | idle | call DURATION
//		}
//		timeouts PATTERN… {           # any number
//			first_byte | whole | idle | call DURATION
//		}
//		transport http { … }
//	}
func (p *Provider) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&p.Name) {
		return d.ArgErr()
	}
	return caddykit.With(caddykit.Options{
		"dialect":          caddykit.Word(&p.Dialect),
		"endpoint":         {Many: true, Read: p.readEndpoint},
		"optional":         caddykit.Flag(&p.Optional),
		"models":           caddykit.Words(&p.Models),
		"deployments":      pair(&p.Deployments),
		"catalog_name":     caddykit.Word(&p.CatalogName),
		"chat":             caddykit.Word(&p.Chat),
		"responses":        {Read: p.readResponses},
		"max_tokens_field": caddykit.Word(&p.MaxTokensField),
		"messages":         caddykit.Word(&p.Messages),
		"discover":         caddykit.Value(&p.Discover, p.parseDiscover),
		"account_of":       caddykit.Word(&p.AccountOf),
		"cost":             caddykit.Word(&p.Cost),
		"price_variant":    caddykit.Word(&p.PriceVariant),
		"betas":            caddykit.Words(&p.Betas),
		"trace_context":    caddykit.Flag(&p.TraceContext),
		"timeouts":         {Many: true, Read: p.readTimeouts},
		"transport":        TransportOption(&p.TransportRaw),
	}, p.Account.Options()).Block(d)
}

// Options returns the options of an account.
func (a *Account) Options() caddykit.Options {
	return caddykit.With(caddykit.Options{
		"base_url":    caddykit.Word(&a.BaseURL),
		"project":     caddykit.Word(&a.Project),
		"location":    caddykit.Word(&a.Location),
		"api_version": caddykit.Word(&a.APIVersion),
		"region":      caddykit.Word(&a.Region),
		"service":     caddykit.Word(&a.Service),
		"resource":    caddykit.Word(&a.Resource),
	}, a.Access.Options())
}

// options returns the options of what lets the gateway in.
func (a *Access) Options() caddykit.Options {
	return caddykit.Options{
		"api_key": caddykit.Word(&a.APIKey),
		"auth":    {Read: a.readAuth},
		"oauth":   {Read: a.readOAuth},
		"header":  pair(&a.Header),
		"query":   pair(&a.Query),
	}
}

// pair is an option with a name and a value, each name once.
func pair(dst *map[string]string) caddykit.Option {
	return caddykit.Option{Many: true, Read: func(d *caddyfile.Dispenser) error {
		option := d.Val()
		var name, value string
		if !d.AllArgs(&name, &value) {
			return d.ArgErr()
		}
		if _, twice := (*dst)[name]; twice {
			return d.Errf("%s %s is given twice", option, name)
		}
		if *dst == nil {
			*dst = map[string]string{}
		}
		(*dst)[name] = value
		return nil
	}}
}

func (p *Provider) readEndpoint(d *caddyfile.Dispenser) error {
	var e Endpoint
	if !d.AllArgs(&e.Name) {
		return d.ArgErr()
	}
	err := e.Options().Block(d)
	p.Endpoints = append(p.Endpoints, e)
	return err
}

func (p *Provider) readTimeouts(d *caddyfile.Dispenser) error {
	if models := d.RemainingArgs(); len(models) > 0 {
		m := ModelTimeouts{Models: models}
		err := m.options().Block(d)
		p.ModelTimeouts = append(p.ModelTimeouts, m)
		return err
	}
	if p.Timeouts != (ProviderTimeouts{}) {
		return d.Err("timeouts of the whole provider are given twice")
	}
	return caddykit.With(p.Timeouts.options(), caddykit.Options{
		"connect": caddykit.Value(&p.Timeouts.Connect, caddykit.ParseDuration),
	}).Block(d)
}

func (t *AnswerTimeouts) options() caddykit.Options {
	return caddykit.Options{
		"first_byte": caddykit.Value(&t.FirstByte, caddykit.ParseDuration),
		"whole":      caddykit.Value(&t.Whole, caddykit.ParseDuration),
		"idle":       caddykit.Value(&t.Idle, caddykit.ParseDuration),
		"call":       caddykit.Value(&t.Call, caddykit.ParseDuration),
	}
}

func (p *Provider) readResponses(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&p.Responses) {
		return d.ArgErr()
	}
	return caddykit.Options{
		"developer_role":    caddykit.Flag(&p.Translate.DeveloperRole),
		"reasoning_content": caddykit.Flag(&p.Translate.ReasoningContent),
		"unknown_tools":     caddykit.Word(&p.Translate.UnknownTools),
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

// transport is the option for Caddy's HTTP transport.
func TransportOption(dst *json.RawMessage) caddykit.Option {
	return caddykit.Option{Read: func(d *caddyfile.Dispenser) error {
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
		*dst = caddyconfig.JSONModuleObject(module, "protocol", name, nil)
		return nil
	}}
}
