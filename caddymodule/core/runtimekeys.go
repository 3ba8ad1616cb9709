package core

import (
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// RuntimeKeys lets keys with the scope keys:manage make other keys while the gateway runs, at
// /api/v1/keys. No such key may do more than this block allows, even if its own settings say more.
type RuntimeKeys struct {
	// Scopes are the permissions that such keys can have. At least one; keys:manage is not
	// possible.
	Scopes []string `json:"scopes"`

	// Models are patterns over "<provider>/<model>" of the models that such keys can use. Default:
	// every callable model.
	Models []string `json:"models,omitempty"`

	// MCP are patterns over "<MCP server>/<tool>" of the tools that such keys can call, as in a
	// key's block. A key has those of them that it names. Default: none.
	MCP []string `json:"mcp,omitempty"`

	// HostedTools lets such keys use tools that run at the provider, on its account. Default:
	// false.
	HostedTools bool `json:"hosted_tools,omitempty"`

	// Unpriced is as in a key's block. Default: 402 cannot_be_priced.
	Unpriced string `json:"unpriced,omitempty"`

	// Max bounds the number of such keys, of all tenants. At most 1,000,000. Default: 100,000.
	Max int `json:"max,omitempty"`

	// Allowance is the most that each key has, by itself.
	Allowance
	Caps
}

// build checks the block and prepares what such keys share: the limits of their tenants and of the
// gateway. A nil block is none.
func (r *RuntimeKeys) build(a *App, shared *policy.Limits) (*runtimekeys.Block, error) {
	if r == nil {
		return nil, nil
	}
	out := &runtimekeys.Block{Models: r.Models, Tools: r.MCP, HostedTools: r.HostedTools, Max: r.Max, Shared: shared}
	if out.Max == 0 {
		out.Max = runtimekeys.DefaultMax
	}
	var err error
	if out.Scopes, err = keys.ParseScopes(r.Scopes); err == nil {
		out.Limits, err = r.subject("runtime_keys")
	}
	if err == nil {
		err = checkTools(a, r.MCP)
	}
	if err == nil {
		out.TenantTools, err = tenantTools(a)
	}
	if err == nil {
		out.Caps, err = r.Caps.resolve()
	}
	if err == nil {
		out.Unpriced, err = parseUnpriced(r.Unpriced)
	}
	if err == nil {
		err = out.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("runtime_keys: %w", err)
	}
	return out, nil
}

// shareLimits adds the limits of every tenant, for keys that the configuration does not have: all
// that it has may have limits of their own.
func shareLimits(a *App, shared *policy.Limits) error {
	everybody, err := a.subject(policy.GatewaySubject())
	if err != nil {
		return err
	}
	shared.OtherTenants = &policy.KeyLimits{Subjects: []limits.Subject{everybody}}
	for _, t := range a.Tenants {
		if shared.Tenants[t.Name] != nil {
			continue
		}
		tenant, err := t.subject(policy.TenantSubject(t.Name))
		if err != nil {
			return err
		}
		shared.Tenants[t.Name] = &policy.KeyLimits{Tenant: t.Name, Subjects: []limits.Subject{tenant, everybody}}
	}
	return nil
}
