// Package runtimekeys is the block runtime_keys of the configuration, with the endpoints of such
// keys.
package runtimekeys

import (
	"embed"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/keys" // its endpoints
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	feature "github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("runtimekeys", func() core.Feature { return new(Feature) }, sources) }

// Feature is the member of the app.
type Feature struct {
	// RuntimeKeys lets keys be made while the gateway runs. Default: none can be made.
	RuntimeKeys *RuntimeKeys `json:"runtime_keys,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{"runtime_keys": caddykit.Single(&f.RuntimeKeys, (*RuntimeKeys).read)}
}

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) error {
	made, err := f.RuntimeKeys.build(b)
	if err != nil {
		return err
	}
	b.MaxBody(made.MaxBody())
	b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature { return feature.Feature(c, made) })
	return nil
}

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
	core.Allowance
	core.Caps
}

// build checks the block and prepares what such keys share: the limits of their tenants and of the
// gateway. A nil block is none.
func (r *RuntimeKeys) build(b *core.Build) (*runtimekeys.Block, error) {
	if r == nil {
		return nil, nil
	}
	if err := b.Made(""); err != nil {
		return nil, err
	}
	b.Budgets("runtime_keys", r.Allowance)
	out := &runtimekeys.Block{Models: r.Models, Tools: r.MCP, HostedTools: r.HostedTools, Max: r.Max, Shared: b.Config.Limits}
	if b.Several() {
		out.MaxBudget = limits.MaxSharedBudget
	}
	if out.Max == 0 {
		out.Max = runtimekeys.DefaultMax
	}
	var err error
	if out.Scopes, err = keys.ParseScopes(r.Scopes); err == nil {
		out.Limits, err = core.Subject(r.Allowance, "runtime_keys")
	}
	if err == nil {
		err = b.CheckTools(r.MCP)
	}
	if err == nil {
		out.TenantTools, err = b.TenantTools()
	}
	if err == nil {
		out.Caps, err = r.Caps.Resolve()
	}
	if err == nil {
		out.Unpriced, err = core.ParseUnpriced(r.Unpriced)
	}
	if err == nil {
		err = out.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("runtime_keys: %w", err)
	}
	return out, nil
}
