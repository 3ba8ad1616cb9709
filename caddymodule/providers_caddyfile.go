package caddymodule

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

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
//			unknown_tools drop|refuse
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
