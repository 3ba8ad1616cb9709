package core

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/inspect"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// inspected is what commands see of a configuration that is not started. All of it was checked.
func inspected(a *App, b *Build) *inspect.Config {
	c := &inspect.Config{Context: a.ctx, Built: b.Config, DataDir: a.dataDir()}
	c.Limits, _ = Subject(a.Allowance, "gateway")
	c.Retention, _ = a.Activity.build()
	for _, k := range a.Keys {
		c.Keys = append(c.Keys, inspectedKey(&k))
	}
	for _, t := range a.Tenants {
		limits, _ := Subject(t.Allowance, t.Name)
		c.Tenants = append(c.Tenants, inspect.Tenant{Name: t.Name, Limits: limits})
	}
	for _, m := range a.Models {
		c.Models = append(c.Models, m.Pattern)
	}
	for _, p := range a.Providers {
		c.Providers = append(c.Providers, inspect.Provider{
			Name: p.Name, BaseURL: p.first().BaseURL, APIKey: p.APIKey, AnyModel: p.anyModel(), Test: p.Dialect == provider.Test,
			Keyless: p.Keyless() && !slices.ContainsFunc(p.Endpoints, func(e Endpoint) bool { return !e.Keyless() }),
		})
	}
	if a.VNC != nil {
		policy, _ := a.VNC.policy()
		c.Desktops = &inspect.Desktops{
			Domain: a.VNC.Domain, Port: a.VNC.Port, OwnCertificate: a.certificate.own(), Automated: policy.Session.Automates(desktop.AutomationView),
		}
		c.Desktops.Policy = func() *caddytls.AutomationPolicy {
			policy, _ := a.certificate.policy()
			return policy
		}
	}
	for _, f := range a.features {
		if f, ok := f.Members.(interface{ Inspect(c *inspect.Config) }); ok {
			f.Inspect(c)
		}
	}
	return c
}

func inspectedKey(k *Key) inspect.Key {
	limits, _ := Subject(k.Allowance, k.Name)
	expires, _ := parseMoment(k.Expires)
	literal := func(text string) bool { return !strings.HasPrefix(text, "{") }
	return inspect.Key{
		Name: k.Name, Tenant: TenantOf(k.Rights), Expires: k.Expires, ExpiresAt: expires, Disabled: k.Disabled, Models: k.Models,
		Literal: !k.filed && slices.ContainsFunc(k.Secrets, literal), CanChat: slices.Contains(k.Scopes, keys.ChatWrite.String()),
		MCP: k.MCP, CanCallTools: slices.Contains(k.Scopes, keys.MCPCall.String()),
		CanAutomate: slices.Contains(k.Scopes, keys.WorkstationsAutomate.String()),
		Unpriced:    k.Unpriced != "", Limits: limits,
	}
}
