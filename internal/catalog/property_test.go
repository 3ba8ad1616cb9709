package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// TestListAndRouterAgree builds random configurations and checks that every listed ID resolves to
// the listed model. Any other name does not resolve, unless its provider's block has `*` and the
// name is unknown.
func TestListAndRouterAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	providers, names := []string{"a", "b", "c"}, []string{"gpt-1", "gpt-2", "o/1:free", "o/2", "x", "gpt"}
	patterns, modes := []string{"*", "gpt-*", "o/*", "x", "*2", "gpt-1", "mine"}, []string{"", "chat", "responses", "embedding", "video_generation"}
	some := func(from []string) (out []string) {
		for _, s := range from {
			if rng.IntN(3) == 0 {
				out = append(out, s)
			}
		}
		return out
	}
	for round := range 1000 {
		var models []catalog.Model
		for _, p := range providers {
			for _, n := range some(names) {
				models = append(models, catalog.Model{Provider: p, Name: n, Mode: modes[rng.IntN(len(modes))]})
			}
		}
		var sources []catalog.Source
		for _, p := range some(append(providers, "d")) {
			sources = append(sources, catalog.Source{
				Provider: p, Patterns: some(patterns), Discover: rng.IntN(2) == 0, CatalogName: []string{"", "a"}[rng.IntN(2)], Skipped: rng.IntN(4) == 0,
			})
		}
		c := newCatalog(t, models, sources...)
		heard := map[string]bool{}
		for _, s := range sources {
			if s.Discover && rng.IntN(2) == 0 {
				var found []catalog.Model
				for _, n := range some(names) {
					heard[s.Provider+"/"+n] = true
					found = append(found, catalog.Model{Name: n, Mode: modes[rng.IntN(len(modes))]})
				}
				c.SetDiscovered(s.Provider, found)
			}
		}
		config := fmt.Sprintf("round %d: catalog %v, sources %+v, heard %v", round, models, sources, heard)

		listed := map[string]bool{}
		for _, m := range c.List(nil) {
			listed[m.ID] = true
			got, err := c.Resolve(m.ID)
			if err != nil || got.ID != m.ID || got.Mode != m.Mode || got.Provider+"/"+got.Name != m.ID {
				t.Fatalf("%s\nlisted %q resolves to %+v, %v", config, m.ID, got, err)
			}
			if !m.Serves(catalog.OpChat) && !m.Serves(catalog.OpResponses) && !m.Serves(catalog.OpEmbeddings) {
				t.Fatalf("%s\nlisted %q serves nothing", config, m.ID)
			}
		}
		for _, p := range append(providers, "d", "e") {
			at := slices.IndexFunc(sources, func(s catalog.Source) bool { return s.Provider == p })
			for _, n := range append(names, "mine", "never") {
				id := p + "/" + n
				_, err := c.Resolve(id)
				if listed[id] || err != nil {
					continue
				}
				if at < 0 || sources[at].Skipped || !slices.Contains(sources[at].Patterns, "*") {
					t.Fatalf("%s\nunlisted %q resolves without `*`", config, id)
				}
				catalogName := sources[at].CatalogName
				if catalogName == "" {
					catalogName = p
				}
				inCatalog := slices.ContainsFunc(models, func(m catalog.Model) bool { return m.Provider == catalogName && m.Name == n })
				if inCatalog || heard[id] {
					t.Fatalf("%s\nunlisted %q resolves, though it is known", config, id)
				}
			}
		}
	}
}

// FuzzParse checks that no file breaks the parsers, and that what they accept makes a catalog whose
// list routes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{priceMap, openRouterList, `{"models":[{"id":"a/b","price":{"prompt":"1","tiers":[{"from":2,"completion":3}]}}]}`, `{"data":[{"id":"x"}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		models, err := catalog.Parse(data)
		if err != nil {
			models, _, err = catalog.ParseDiscovered("p", data)
		}
		if err != nil {
			return
		}
		sources := map[string]catalog.Source{}
		for i, m := range models {
			if m.ID != m.Provider+"/"+m.Name {
				t.Fatalf("id %q of %q, %q", m.ID, m.Provider, m.Name)
			}
			if nano, ok := m.Price.CostNano(catalog.Tokens{Prompt: 1000, Cached: 10, Completion: 10}); ok && nano < 0 {
				t.Fatalf("%q costs %d", m.ID, nano)
			}
			if _, ok := sources[m.Provider]; !ok {
				sources[m.Provider] = catalog.Source{Provider: fmt.Sprintf("p%d", i), CatalogName: m.Provider, Patterns: []string{"*"}}
			}
		}
		all := make([]catalog.Source, 0, len(sources))
		for _, s := range sources {
			all = append(all, s)
		}
		c, err := catalog.NewCatalog(models, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.List(nil) {
			if _, err := c.Resolve(m.ID); err != nil {
				t.Fatalf("%q is listed: %v", m.ID, err)
			}
		}
	})
}
