package core

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddytls"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/client"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// inspected is what commands see of a configuration that is not started. All of it was checked.
func inspected(a *App, built built) offline.Config {
	c := offline.Config{Context: a.ctx, Built: built.Config, DataDir: a.dataDir()}
	c.Limits, _ = a.subject("gateway")
	c.Retention, _ = a.Activity.build()
	for _, k := range a.Keys {
		c.Keys = append(c.Keys, inspectedKey(&k, built))
	}
	for _, m := range a.MCP {
		c.MCP = append(c.MCP, offline.MCPServer{
			Name: m.Name, URL: m.URL, APIKey: m.APIKey, Keyless: m.keyless(), Demo: m.Demo, Desktops: m.Desktops,
			Ask: func(ctx context.Context) (int, error) { return toolsOf(ctx, built.tools.Named(m.Name)) },
		})
	}
	for _, t := range a.Tenants {
		limits, _ := t.subject(t.Name)
		c.Tenants = append(c.Tenants, offline.Tenant{Name: t.Name, Limits: limits})
	}
	for _, m := range a.Models {
		c.Models = append(c.Models, m.Pattern)
	}
	for _, p := range a.Providers {
		c.Providers = append(c.Providers, offline.Provider{
			Name: p.Name, BaseURL: p.first().BaseURL, APIKey: p.APIKey, AnyModel: p.anyModel(), Test: p.Dialect == provider.Test,
			Keyless: p.keyless() && !slices.ContainsFunc(p.Endpoints, func(e Endpoint) bool { return !e.keyless() }),
		})
	}
	if a.VNC != nil {
		policy, _ := a.VNC.policy()
		c.Desktops = &offline.Desktops{
			Domain: a.VNC.Domain, Port: a.VNC.Port, OwnCertificate: a.certificate.own(), Automated: policy.Session.Automates(desktop.AutomationView),
		}
		c.Desktops.Policy = func() *caddytls.AutomationPolicy {
			policy, _ := a.certificate.policy()
			return policy
		}
	}
	return c
}

// toolsOf asks a server how many tools it has.
func toolsOf(ctx context.Context, s *toolserver.Server) (int, error) {
	c, err := client.Connect(ctx, s.Send)
	if err != nil {
		return 0, err
	}
	tools, err := c.Tools(ctx)
	return len(tools), errors.Join(err, c.Close(ctx))
}

func inspectedKey(k *Key, built built) offline.Key {
	limits, _ := k.subject(k.Name)
	expires, _ := parseMoment(k.Expires)
	literal := func(text string) bool { return !strings.HasPrefix(text, "{") }
	var reaches []string
	if len(k.MCP) > 0 { // few keys have it, and they are not found by an index
		found, _ := built.Keyring.Named(k.Name)
		for s := range built.tools.All() {
			if found.AllowsServer(s.Name) {
				reaches = append(reaches, s.Name)
			}
		}
	}
	return offline.Key{
		Name: k.Name, Tenant: tenantOf(k.Rights), Expires: k.Expires, ExpiresAt: expires, Disabled: k.Disabled, Models: k.Models,
		Literal: !k.filed && slices.ContainsFunc(k.Secrets, literal), CanChat: slices.Contains(k.Scopes, keys.ChatWrite.String()),
		MCP: k.MCP, Reaches: reaches, CanCallTools: slices.Contains(k.Scopes, keys.MCPCall.String()),
		CanAutomate: slices.Contains(k.Scopes, keys.WorkstationsAutomate.String()),
		Unpriced:    k.Unpriced != "", Limits: limits,
	}
}
