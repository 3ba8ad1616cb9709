package core

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Guardrails is a feature that has guardrails.
type Guardrails interface {
	// Compile returns those of the configuration, and the secrets in them.
	Compile(ctx caddy.Context) (all []guardrail.Guardrail, secrets []string, err error)
	// Join is as [policy.Guardrails] has it.
	Join(all []guardrail.Guardrail) guardrail.Set
}

// guardNames are the guardrails of a configuration, and which of them a block has named.
type guardNames struct {
	inBuild bool // the feature
	all     []guardrail.Guardrail
	byName  map[string]guardrail.Guardrail
	used    map[string]bool
}

// buildGuardrails compiles the guardrails and finds those that blocks of the core name. An unknown
// name is refused.
func buildGuardrails(b *Build) error {
	a, out := b.Settings, new(policy.Guardrails)
	b.Config.Guardrails = out
	out.Keys, out.Servers = make(map[string][]guardrail.Guardrail), make(map[string][]guardrail.Guardrail)
	names := &b.guardrails
	names.byName, names.used = make(map[string]guardrail.Guardrail), make(map[string]bool)
	feature, ok := Offer[Guardrails](b)
	if names.inBuild = ok; ok {
		all, secrets, err := feature.Compile(b.Ctx)
		if err != nil {
			return err
		}
		names.all, out.Join = all, feature.Join
		b.Hide(secrets...)
	}
	for _, g := range names.all {
		if names.byName[g.Name()] != nil {
			return fmt.Errorf("guardrail %q is configured twice", g.Name())
		}
		names.byName[g.Name()] = g
	}
	for _, k := range a.Keys {
		if err := b.Guard(out.Keys, k.Name, k.Guardrails); err != nil {
			return fmt.Errorf("key %q: %w", k.Name, err)
		}
	}
	for _, m := range a.Models {
		list, err := names.find(m.Guardrails)
		if err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
		if len(list) > 0 {
			out.Models = append(out.Models, policy.ModelGuardrails{Pattern: m.Pattern, Guardrails: list})
		}
	}
	var err error
	out.All, err = names.find(a.GuardrailsOnAll)
	return err
}

// Guard adds the guardrails that a block names to those of keys or of MCP servers. An unknown name
// is an error.
func (b *Build) Guard(of map[string][]guardrail.Guardrail, block string, names []string) error {
	list, err := b.guardrails.find(names)
	if err == nil && len(list) > 0 {
		of[block] = list
	}
	return err
}

// unused refuses a guardrail that nothing names: a typo must not silently disable a guardrail.
func (n *guardNames) unused() error {
	for _, g := range n.all {
		if !n.used[g.Name()] {
			return fmt.Errorf("guardrail %q: it is not used: name it in a key, in a model, in an mcp block or in gatehouse", g.Name())
		}
	}
	return nil
}

func (n *guardNames) find(list []string) (found []guardrail.Guardrail, err error) {
	for _, name := range list {
		g := n.byName[name]
		switch {
		case !n.inBuild:
			return nil, NotInBuild("guardrails "+name, "guardrails")
		case g == nil:
			return nil, fmt.Errorf("guardrails: there is no guardrail %q", name)
		}
		n.used[name] = true
		found = append(found, g)
	}
	return found, nil
}
