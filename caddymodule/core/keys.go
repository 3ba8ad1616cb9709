package core

import (
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// Key is a gateway key and its rights.
type Key struct {
	// Name is the key's identity in records, metrics and logs. Required, unique.
	Name string `json:"name"`

	// Secrets are the bearer tokens of the key, several for rotation: {env.NAME} or {file./path}. A
	// literal works, with a warning unless a key file has it.
	Secrets []string `json:"secrets,omitempty" placeholders:"yes"`

	// Hashes replace secrets that are kept elsewhere: "sha256:<64 hex digits>", as `caddy gatehouse
	// key new` prints them.
	Hashes []string `json:"hashes,omitempty"`

	// Expires is when the key becomes invalid: RFC 3339, or a date (00:00 UTC). Default: never.
	Expires string `json:"expires,omitempty"`

	// Disabled makes the key invalid. Default: false.
	Disabled bool `json:"disabled,omitempty"`

	// Session are the rules of the desktop sessions whose address the key has asked for. Default:
	// those of other levels only.
	Session desktop.SessionRules `json:"session,omitzero"`

	Rights

	filed bool // read from a file: Caddy's admin API does not show it
}

// Rights are what a key or a role may do, and what limits it.
type Rights struct {
	// Scopes are the key's permissions: chat:write, models:read, activity:read, providers:read,
	// limits:read, keys:manage, mcp:call, workstations:connect, workstations:manage,
	// workstations:observe, workstations:automate, recordings:read, recordings:manage. At least
	// one.
	Scopes []string `json:"scopes"`

	// Tenant owns the key's calls, activity and stored responses; what belongs to another tenant
	// does not exist for the key. Default: "default".
	Tenant string `json:"tenant,omitempty"`

	// Models are patterns over "<provider>/<model>" ("*" matches any run of characters, "/" and ":"
	// too). Default: every callable model.
	Models []string `json:"models,omitempty"`

	// MCP are patterns over "<MCP server>/<tool>" of the tools that the key can call; each begins
	// with the name of a server. Default: no server.
	MCP []string `json:"mcp,omitempty"`

	// HostedTools lets the key use tools that run at the provider, on its account (web search, code
	// interpreter, remote MCP, …). Default: false.
	HostedTools bool `json:"hosted_tools,omitempty"`

	// AllTenants lets the key see what belongs to every tenant: activity, limits, keys,
	// workstations and their sessions. It is for operators; the scopes still say what it sees.
	// Default: only its own tenant.
	AllTenants bool `json:"all_tenants,omitempty"`

	Allowance
	Caps

	// Guardrails are the names of the guardrails that read the key's calls. Default: those of the
	// model and of the gateway.
	Guardrails []string `json:"guardrails,omitempty"`

	// Unpriced is for a call under a hard budget whose cost cannot be known beforehand (unknown
	// price, hosted tools, files): "allow" admits it and reserves what is known. Default: 402
	// cannot_be_priced.
	Unpriced string `json:"unpriced,omitempty"`
}

// keySpecs returns the keys, and their secrets as plain text.
func keySpecs(b *Build, logger *zap.Logger) (specs []keys.Spec, secrets []string, err error) {
	a := b.Settings
	tenants, err := b.TenantTools()
	if err != nil {
		return nil, nil, err
	}
	specs = make([]keys.Spec, 0, len(a.Keys))
	for _, k := range a.Keys {
		if err := b.CheckTools(k.MCP); err != nil {
			return nil, nil, fmt.Errorf("key %q: %w", k.Name, err)
		}
		spec := keys.Spec{
			Name: k.Name, Hashes: k.Hashes, Scopes: k.Scopes, Tenant: k.Tenant, Models: k.Models, Tools: k.MCP, TenantTools: tenants[TenantOf(k.Rights)],
			Disabled: k.Disabled, HostedTools: k.HostedTools, AllTenants: k.AllTenants,
		}
		for _, text := range k.Secrets {
			owner := fmt.Sprintf("key %q", k.Name)
			value, literal, err := secret.Resolve(text)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", owner, err)
			}
			if literal && !k.filed {
				WarnOfLiteral(logger, owner)
			}
			spec.Secrets = append(spec.Secrets, value)
		}
		if k.Expires != "" {
			if spec.Expires, err = parseMoment(k.Expires); err != nil {
				return nil, nil, fmt.Errorf("key %q: expires: %w", k.Name, err)
			}
		}
		secrets = append(secrets, spec.Secrets...)
		specs = append(specs, spec)
	}
	return specs, secrets, nil
}

// ResolveSecret resolves a secret. It warns about a literal one, which ends up in Caddy's admin API
// and in its autosaved configuration.
func ResolveSecret(logger *zap.Logger, owner, text string) (string, error) {
	value, literal, err := secret.Resolve(text)
	if err != nil {
		return "", fmt.Errorf("%s: %w", owner, err)
	}
	if literal {
		WarnOfLiteral(logger, owner)
	}
	return value, nil
}

func WarnOfLiteral(logger *zap.Logger, owner string) {
	logger.Warn("a secret is written in the configuration itself; use {env.NAME} or {file./path}", zap.String("of", owner))
}

func parseMoment(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, fmt.Errorf("%q: want a date (2027-01-31) or RFC 3339 (2027-01-31T18:00:00Z)", text)
	}
	return t, nil
}
