package caddymodule

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// People are those who call with tokens instead of keys.
type People struct {
	// Roles are what people and programs may do whom an identity names. Default: none.
	Roles []Role `json:"roles,omitempty"`

	// Identities are the identity providers whose tokens are good here. Default: none.
	Identities []Identity `json:"identities,omitempty"`

	SignIns

	// AuthorizationServer lets people sign in to programs, such as Claude Code. Default: nobody
	// can.
	AuthorizationServer *AuthorizationServer `json:"authorization_server,omitempty"`
}

// Role is what people and programs may do whom an identity provider names: a key without a secret.
// Limits of a role are those of each person; those of its tenant are for all.
type Role struct {
	// Name is what the rules of identities give. Required, and that of no key.
	Name string `json:"name"`

	Rights
}

// read reads one role, with the options of a key but for its secrets, its end and session:
//
//	role NAME {
//		scopes SCOPE…
//		tenant NAME
//		models PATTERN…
//		…
//	}
func (r *Role) read(d *caddyfile.Dispenser) error {
	if !d.AllArgs(&r.Name) {
		return d.ArgErr()
	}
	return r.Rights.options().Block(d)
}

// options are those of a key and of a role.
func (r *Rights) options() caddykit.Options {
	return with(caddykit.Options{
		"scopes":       caddykit.Words(&r.Scopes),
		"tenant":       caddykit.Word(&r.Tenant),
		"models":       caddykit.Words(&r.Models),
		"mcp":          toolLines(&r.MCP),
		"hosted_tools": caddykit.Flag(&r.HostedTools),
		"all_tenants":  caddykit.Flag(&r.AllTenants),
		"guardrails":   caddykit.Words(&r.Guardrails),
		"unpriced":     caddykit.Word(&r.Unpriced),
	}, r.Allowance.options(), r.Caps.options())
}

// buildRoles checks the roles.
func buildRoles(a *App) (all []people.Role, err error) {
	tenants, err := tenantTools(a)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, k := range a.Keys {
		named[k.Name] = true
	}
	for _, r := range a.Roles {
		if named[r.Name] {
			return nil, fmt.Errorf("role %q: a key or another role has this name", r.Name)
		}
		named[r.Name] = true
		role, err := buildRole(a, &r, tenants)
		if err != nil {
			return nil, fmt.Errorf("role %q: %w", r.Name, err)
		}
		all = append(all, role)
	}
	return all, nil
}

func buildRole(a *App, r *Role, tenants map[string]pattern.List) (out people.Role, err error) {
	tenant := tenantOf(r.Rights)
	out = people.Role{Name: r.Name, Models: r.Models, Tools: r.MCP, ToolsOfItsTenant: tenants[tenant]}
	out.Key = keys.Key{Tenant: tenant, HostedTools: r.HostedTools, AllTenants: r.AllTenants}
	switch out.Key.Scopes, err = keys.ParseScopes(r.Scopes); {
	case err != nil:
		return out, err
	case out.Key.Scopes == 0:
		return out, errors.New("scopes: at least one")
	case out.Key.Has(keys.KeysManage):
		return out, errors.New("scopes: keys:manage is not for roles: keys that somebody makes would outlive the person's token")
	case !keys.ValidTenant(r.Name):
		return out, errors.New("its name: want up to 64 letters, digits and . _ @ -, a letter or digit first")
	case !keys.ValidTenant(tenant):
		return out, fmt.Errorf("tenant %q: want letters, digits and . _ @ -", tenant)
	}
	for _, text := range r.Models {
		if err := pattern.Valid(text); err != nil {
			return out, fmt.Errorf("models: %w", err)
		}
	}
	if err := checkTools(a, r.MCP); err != nil {
		return out, err
	}
	if out.Limits, err = r.subject("role"); err != nil {
		return out, err
	}
	if err := out.Limits.Check(); err != nil {
		return out, err
	}
	if out.Caps, err = r.Caps.resolve(); err != nil {
		return out, err
	}
	out.Unpriced, err = parseUnpriced(r.Unpriced)
	return out, err
}
