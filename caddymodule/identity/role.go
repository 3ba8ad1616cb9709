// Package identity is what the configuration says of people and programs with tokens of identity
// providers: roles and identities.
package identity

import (
	"embed"
	"errors"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/authserver" // its endpoints
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/ambient"
	"github.com/gatehouse-proxy/gatehouse/internal/features/authserver"
	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/features/signin"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("identity", func() core.Feature { return new(Feature) }, sources) }

// Feature is the members of the app.
type Feature struct {
	// Roles are what people and programs may do whom an identity names. Default: none.
	Roles []Role `json:"roles,omitempty"`

	// Identities are the identity providers whose tokens are good here. Default: none.
	Identities []Identity `json:"identities,omitempty"`

	SignIns

	// AuthorizationServer lets people sign in to programs, such as Claude Code. Default: nobody
	// can.
	AuthorizationServer *AuthorizationServer `json:"authorization_server,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{
		"role":     caddykit.Listed(&f.Roles, (*Role).read),
		"identity": caddykit.Listed(&f.Identities, (*Identity).read),

		"origin":               caddykit.Word(&f.Origin),
		"encryption_secret":    caddykit.Words(&f.EncryptionSecrets),
		"authorization_server": caddykit.Single(&f.AuthorizationServer, (*AuthorizationServer).read),
	}
}

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) error {
	config, err := f.build(b)
	if err != nil {
		return err
	}
	encryption, err := f.encryptionSecrets(b)
	if err != nil {
		return err
	}
	signIns, err := f.signIns(b, config, encryption)
	if err != nil {
		return err
	}
	server, err := f.authorizationServer(encryption)
	if err != nil {
		return fmt.Errorf("authorization_server: %w", err)
	}
	var callers, at gateway.Feature // of the gateway that is being made
	if config != nil {
		b.MaxBody(config.MaxBody())
		b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature {
			callers = people.Feature(c, config)
			return callers
		})
	}
	if slices.ContainsFunc(f.Identities, func(i Identity) bool { return i.isAmbient() }) {
		b.Add(func(gateway.Core, []gateway.Feature) gateway.Feature {
			return ambient.Feature(callers, placeholderValues)
		})
	}
	if config != nil && signIns != nil {
		b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature {
			at = signin.Feature(c, callers, signIns)
			return at
		})
		b.Add(func(gateway.Core, []gateway.Feature) gateway.Feature { return signin.ConsoleFeature(at) })
	}
	b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature {
		return authserver.Feature(c, server, callers, at)
	})
	return nil
}

// Role is what people and programs may do whom an identity provider names: a key without a secret.
// Limits of a role are those of each person; those of its tenant are for all.
type Role struct {
	// Name is what the rules of identities give. Required, and that of no key.
	Name string `json:"name"`

	core.Rights
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
	return r.Rights.Options().Block(d)
}

// roles checks the roles.
func (f *Feature) roles(b *core.Build) (all []people.Role, err error) {
	tenants, err := b.TenantTools()
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, k := range b.Settings.Keys {
		named[k.Name] = true
	}
	for _, r := range f.Roles {
		if named[r.Name] {
			return nil, fmt.Errorf("role %q: a key or another role has this name", r.Name)
		}
		named[r.Name] = true
		role, err := buildRole(b, &r, tenants)
		if err != nil {
			return nil, fmt.Errorf("role %q: %w", r.Name, err)
		}
		if err := b.Made(role.Key.Tenant); err != nil {
			return nil, err
		}
		if err := b.Guard(b.Config.Guardrails.Keys, r.Name, r.Guardrails); err != nil {
			return nil, fmt.Errorf("role %q: %w", r.Name, err)
		}
		b.Budgets(fmt.Sprintf("role %q", r.Name), r.Allowance)
		all = append(all, role)
	}
	return all, nil
}

func buildRole(b *core.Build, r *Role, tenants map[string]pattern.List) (out people.Role, err error) {
	tenant := core.TenantOf(r.Rights)
	out = people.Role{Name: r.Name, Models: r.Models, Tools: r.MCP, ToolsOfItsTenant: tenants[tenant]}
	out.Key = keys.Key{Tenant: tenant, HostedTools: r.HostedTools, AllTenants: r.AllTenants}
	switch out.Key.Scopes, err = keys.ParseScopes(r.Scopes); {
	case err != nil:
		return out, err
	case out.Key.Scopes == 0:
		return out, errors.New("scopes: at least one")
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
	if err := b.CheckTools(r.MCP); err != nil {
		return out, err
	}
	if out.Limits, err = core.Subject(r.Allowance, "role"); err != nil {
		return out, err
	}
	if err := out.Limits.Check(); err != nil {
		return out, err
	}
	if out.Caps, err = r.Caps.Resolve(); err != nil {
		return out, err
	}
	out.Unpriced, err = core.ParseUnpriced(r.Unpriced)
	return out, err
}
