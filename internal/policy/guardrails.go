package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// Guardrails are those of a configuration, and what they apply to.
type Guardrails struct {
	Keys   map[string][]guardrail.Guardrail // by name of key
	Models []ModelGuardrails
	// Servers are those of MCP servers, by name.
	Servers map[string][]guardrail.Guardrail
	All     []guardrail.Guardrail // every call

	// Join makes the set of some, in the order in which they judge; nil ones are left out.
	Join func(all []guardrail.Guardrail) guardrail.Set

	sets sync.Map // guardrail.Set by the names of its guardrails: one for each combination in use
}

// ModelGuardrails are the guardrails of the models of a pattern.
type ModelGuardrails struct {
	Pattern    string
	Guardrails []guardrail.Guardrail
}

// Check refuses patterns that are not valid.
func (g *Guardrails) Check() error {
	for _, m := range g.Models {
		if err := pattern.Valid(m.Pattern); err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
	}
	return nil
}

// Of joins the guardrails of a key, of models and of the gateway, each once, in this order. It returns
// nil if there are none.
func (g *Guardrails) Of(key string, models ...string) guardrail.Set {
	return g.join(key, "", func(of string) bool {
		return slices.ContainsFunc(models, func(model string) bool { return pattern.Match(of, model) })
	})
}

// OfAny is for a call whose models are not known: the guardrails of all models apply.
func (g *Guardrails) OfAny(key string) guardrail.Set {
	return g.join(key, "", func(string) bool { return true })
}

func (g *Guardrails) join(key, server string, applies func(pattern string) bool) guardrail.Set {
	var usual [8]guardrail.Guardrail
	list := append(append(usual[:0], g.Keys[key]...), g.Servers[server]...)
	for _, m := range g.Models {
		if applies(m.Pattern) {
			list = append(list, m.Guardrails...)
		}
	}
	list = append(list, g.All...)
	if len(list) == 0 {
		return nil
	}
	var names strings.Builder
	for i, r := range list {
		if slices.Contains(list[:i], r) {
			list[i] = nil // Join leaves it out
			continue
		}
		names.WriteString(r.Name())
		names.WriteByte('/') // no name has it
	}
	if set, ok := g.sets.Load(names.String()); ok {
		return set.(guardrail.Set)
	}
	set, _ := g.sets.LoadOrStore(names.String(), g.Join(slices.Clone(list)))
	return set.(guardrail.Set)
}

// Names returns the names of all guardrails, each once, sorted.
func (g *Guardrails) Names() []string {
	var names []string
	add := func(list []guardrail.Guardrail) {
		for _, r := range list {
			names = append(names, r.Name())
		}
	}
	add(g.All)
	for _, m := range g.Models {
		add(m.Guardrails)
	}
	for _, of := range []map[string][]guardrail.Guardrail{g.Keys, g.Servers} {
		for _, list := range of {
			add(list)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Empty reports whether no call is judged.
func (g *Guardrails) Empty() bool { return len(g.Keys)+len(g.Models)+len(g.Servers)+len(g.All) == 0 }
