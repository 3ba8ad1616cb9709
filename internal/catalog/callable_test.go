package catalog_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// known returns a catalog of models by ID, all of mode chat.
func known(ids ...string) []catalog.Model {
	models := make([]catalog.Model, 0, len(ids))
	for _, id := range ids {
		provider, name, _ := strings.Cut(id, "/")
		models = append(models, catalog.Model{Provider: provider, Name: name, Mode: catalog.ModeChat})
	}
	return models
}

func newCatalog(t testing.TB, models []catalog.Model, sources ...catalog.Source) *catalog.Catalog {
	t.Helper()
	c, err := catalog.NewCatalog(models, sources)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// list returns the IDs in one line.
func list(c *catalog.Catalog) string {
	var ids []string
	for _, m := range c.List(nil) {
		ids = append(ids, m.ID)
	}
	return strings.Join(ids, " ")
}

// wantErrors checks the error of Resolve for each name; nil means that the name resolves to itself.
func wantErrors(t *testing.T, c *catalog.Catalog, want map[string]error) {
	t.Helper()
	for name, wantErr := range want {
		m, err := c.Resolve(name)
		if !errors.Is(err, wantErr) || wantErr == nil && m.ID != name || wantErr != nil && m != nil {
			t.Errorf("Resolve(%q) = %v, %v, want %v", name, m, err, wantErr)
		}
	}
}

func TestPatternsChooseFromTheCatalog(t *testing.T) {
	c := newCatalog(t, known("openai/gpt-4o", "openai/o3", "openai/tts", "mistral/large", "openai/ft:gpt/x"),
		catalog.Source{Provider: "openai", Patterns: []string{"gpt-*", "*/x", "own-model"}})
	if got, want := list(c), "openai/ft:gpt/x openai/gpt-4o openai/own-model"; got != want {
		t.Errorf("list is %q, want %q", got, want)
	}
	wantErrors(t, c, map[string]error{
		"openai/gpt-4o":    nil,
		"openai/ft:gpt/x":  nil,
		"openai/own-model": nil,
		"openai/o3":        catalog.ErrNotCallable, // in the catalog, no pattern
		"mistral/large":    catalog.ErrNotCallable, // in the catalog, no provider
		"openai/gpt-9":     catalog.ErrUnknown,     // fits a pattern, unknown
		"gpt-4o":           catalog.ErrUnknown,
		"mistral/small":    catalog.ErrUnknown,
		"openai/":          catalog.ErrUnknown,
		"openai":           catalog.ErrUnknown,
		"/gpt-4o":          catalog.ErrUnknown,
		"":                 catalog.ErrUnknown,
		"OpenAI/gpt-4o":    catalog.ErrUnknown,
	})
}

func TestStarMakesAnyNameCallableButListsTheKnown(t *testing.T) {
	c := newCatalog(t, known("local/llama"), catalog.Source{Provider: "local", Patterns: []string{"*"}})
	if got := list(c); got != "local/llama" {
		t.Errorf("list is %q", got)
	}
	wantErrors(t, c, map[string]error{
		"local/llama":   nil,
		"local/any/x:y": nil,
		"local/":        catalog.ErrUnknown,
		"local/a\x00b":  catalog.ErrUnknown,
		"local/" + strings.Repeat("n", catalog.MaxNameBytes+1): catalog.ErrUnknown,
	})
	m, err := c.Resolve("local/any/x:y")
	if err != nil || m.Provider != "local" || m.Name != "any/x:y" || m.Price != nil || !m.Serves(catalog.OpChat) || m.DisplayName != "any/x:y" || m.OwnedBy != "local" {
		t.Errorf("a name nobody knows is %+v, %v", m, err)
	}
}

func TestModeDecides(t *testing.T) {
	models := []catalog.Model{
		{Provider: "p", Name: "unknown"}, {Provider: "p", Name: "chat", Mode: "chat"}, {Provider: "p", Name: "responses", Mode: "responses"},
		{Provider: "p", Name: "embedding", Mode: "embedding"}, {Provider: "p", Name: "image", Mode: "video_generation"},
	}
	c := newCatalog(t, models, catalog.Source{Provider: "p", Patterns: []string{"*", "embedding"}})
	if got, want := list(c), "p/chat p/embedding p/responses p/unknown"; got != want {
		t.Errorf("list is %q, want %q", got, want)
	}
	wantErrors(t, c, map[string]error{"p/image": catalog.ErrNotCallable})
	for _, tc := range []struct {
		id                          string
		chat, responses, embeddings bool
		output                      string
	}{
		{"p/unknown", true, true, true, "text"}, {"p/chat", true, true, false, "text"}, {"p/responses", false, true, false, "text"},
		{"p/embedding", false, false, true, "embeddings"},
	} {
		m, err := c.Resolve(tc.id)
		if err != nil || m.Serves(catalog.OpChat) != tc.chat || m.Serves(catalog.OpResponses) != tc.responses || m.Serves(catalog.OpEmbeddings) != tc.embeddings {
			t.Errorf("%s: %+v, %v", tc.id, m, err)
		}
		if m.Serves(catalog.OpMessages) != tc.chat || m.Serves("videos") || m.OutputModalities[0] != tc.output {
			t.Errorf("%s: %+v", tc.id, m)
		}
	}
}

func TestDiscoveryDeniesOnlyOnceItHasAnswered(t *testing.T) {
	c := newCatalog(t, known("openai/gpt-4o", "openai/gpt-old", "openai/o3"),
		catalog.Source{Provider: "openai", Patterns: []string{"gpt-*", "mine"}, Discover: true})
	if got, want := list(c), "openai/gpt-4o openai/gpt-old openai/mine"; got != want {
		t.Errorf("before the first answer: %q, want %q", got, want)
	}

	c.SetDiscovered("openai", known("openai/gpt-4o", "openai/gpt-new", "openai/whisper"))
	if got, want := list(c), "openai/gpt-4o openai/gpt-new openai/mine"; got != want {
		t.Errorf("after it: %q, want %q", got, want)
	}
	wantErrors(t, c, map[string]error{
		"openai/mine":    nil,                    // named exactly: the provider's list does not matter
		"openai/gpt-old": catalog.ErrNotCallable, // in the catalog, not listed by the provider
		"openai/whisper": catalog.ErrNotCallable, // listed, no pattern
		"openai/gpt-9":   catalog.ErrUnknown,
	})

	c.SetDiscovered("openai", nil)
	if got, want := list(c), "openai/mine"; got != want {
		t.Errorf("an empty answer: %q, want %q", got, want)
	}
}

func TestDiscoveryAlone(t *testing.T) {
	c := newCatalog(t, known("local/llama"), catalog.Source{Provider: "local", Discover: true}, catalog.Source{Provider: "silent"})
	if got := list(c); got != "" {
		t.Errorf("before the first answer: %q", got)
	}
	c.SetDiscovered("local", known("local/qwen", "local/"))
	c.SetDiscovered("silent", known("silent/x"))
	c.SetDiscovered("stranger", known("stranger/x"))
	if got := list(c); got != "local/qwen" {
		t.Errorf("after it: %q", got)
	}
	wantErrors(t, c, map[string]error{"local/llama": catalog.ErrNotCallable, "silent/x": catalog.ErrUnknown, "stranger/x": catalog.ErrUnknown})
}

func TestStarWithDiscovery(t *testing.T) {
	c := newCatalog(t, known("p/catalogued"), catalog.Source{Provider: "p", Patterns: []string{"*"}, Discover: true})
	c.SetDiscovered("p", known("p/listed"))
	if got := list(c); got != "p/listed" {
		t.Errorf("list is %q", got)
	}
	wantErrors(t, c, map[string]error{"p/listed": nil, "p/unheard-of": nil, "p/catalogued": catalog.ErrNotCallable})
}

func TestStarWithoutACatalogIsTheProvidersList(t *testing.T) {
	c := newCatalog(t, known("other/m"), catalog.Source{Provider: "p", Patterns: []string{"*", "mine"}, Discover: true})
	if got := list(c); got != "p/mine" {
		t.Errorf("before the first answer: %q", got)
	}
	wantErrors(t, c, map[string]error{
		"p/mine": nil, "p/listed": catalog.ErrUnlisted, "p/": catalog.ErrUnknown, "p/a\x00b": catalog.ErrUnknown, "other/m": catalog.ErrNotCallable,
	})
	c.SetDiscovered("p", known("p/listed"))
	if got := list(c); got != "p/listed p/mine" {
		t.Errorf("after it: %q", got)
	}
	wantErrors(t, c, map[string]error{"p/mine": nil, "p/listed": nil, "p/unheard-of": catalog.ErrUnknown})
}

// A name that the first list can make callable is neither unknown nor denied before that list.
func TestFirstListIsAwaited(t *testing.T) {
	models := append(known("p/catalogued", "p/gpt-old", "q/catalogued"), catalog.Model{Provider: "q", Name: "image", Mode: "video_generation"})
	c := newCatalog(t, models,
		catalog.Source{Provider: "p", Patterns: []string{"gpt-*"}, Discover: true},
		catalog.Source{Provider: "q", Discover: true},
		catalog.Source{Provider: "gone", Discover: true, Skipped: true})
	wantErrors(t, c, map[string]error{
		"p/gpt-old": nil, "p/gpt-9": catalog.ErrUnlisted, "p/o3": catalog.ErrUnknown, "p/catalogued": catalog.ErrNotCallable,
		"q/catalogued": catalog.ErrUnlisted, "q/any": catalog.ErrUnlisted, "q/image": catalog.ErrNotCallable, "gone/any": catalog.ErrUnknown,
	})
	if got := c.Awaited(); len(got) != 2 || got[0] != "p" || got[1] != "q" {
		t.Errorf("awaited are %q", got)
	}
	c.SetDiscovered("p", nil)
	c.SetDiscovered("q", nil)
	wantErrors(t, c, map[string]error{"p/gpt-9": catalog.ErrUnknown, "q/catalogued": catalog.ErrNotCallable, "q/any": catalog.ErrUnknown})
	if got := c.Awaited(); len(got) != 0 {
		t.Errorf("awaited are %q", got)
	}
}

func TestSkippedProviderIsKnownAndNotCallable(t *testing.T) {
	c := newCatalog(t, known("azure/gpt"),
		catalog.Source{Provider: "az", CatalogName: "azure", Patterns: []string{"*", "mine"}, Skipped: true},
		catalog.Source{Provider: "on", CatalogName: "azure", Patterns: []string{"g*"}})
	if got := list(c); got != "on/gpt" {
		t.Errorf("list is %q", got)
	}
	wantErrors(t, c, map[string]error{
		"on/gpt": nil, "az/gpt": catalog.ErrNotCallable, "az/mine": catalog.ErrNotCallable, "az/any": catalog.ErrNotCallable, "azure/gpt": catalog.ErrNotCallable,
	})
}

func TestFactsAreFilledFromEarlierFilesAndTheProvider(t *testing.T) {
	own, other := &catalog.Price{Rates: catalog.Rates{Prompt: usd(t, "1e-6")}}, &catalog.Price{Rates: catalog.Rates{Prompt: usd(t, "2e-6"), Completion: usd(t, "2e-6")}}
	c := newCatalog(t, []catalog.Model{
		{Provider: "p", Name: "m", Price: other, ContextLength: 1000, SupportedParameters: []string{"tools"}, Mode: "embedding"},
		{Provider: "p", Name: "m", Price: own, Mode: "chat"},
	}, catalog.Source{Provider: "p", Discover: true})
	c.SetDiscovered("p", []catalog.Model{{Name: "m", Created: 7, ContextLength: 9, OwnedBy: "them", Price: other, Mode: "embedding"}, {Name: "new", Price: other}})
	m, err := c.Resolve("p/m")
	if err != nil || m.Price != own || m.ContextLength != 1000 || m.Created != 7 || m.OwnedBy != "them" || len(m.SupportedParameters) != 1 || m.Mode != "chat" || m.InputModalities[0] != "text" {
		t.Errorf("p/m is %+v, %v", m, err)
	}
	if m, err := c.Resolve("p/new"); err != nil || m.Price != other {
		t.Errorf("p/new is %+v, %v", m, err)
	}
}

func TestListIsFilteredAndTheCallers(t *testing.T) {
	c := newCatalog(t, known("p/a", "p/b", "p/c"), catalog.Source{Provider: "p", Patterns: []string{"*"}})
	got := c.List(func(id string) bool { return id != "p/b" })
	if len(got) != 2 || got[0].ID != "p/a" || got[1].ID != "p/c" {
		t.Errorf("list is %+v", got)
	}
	got[0].ID = "spoiled"
	if list(c) != "p/a p/b p/c" {
		t.Errorf("a caller's change shows in the next list: %q", list(c))
	}
}

func TestNewCatalogRefuses(t *testing.T) {
	for want, tc := range map[string]struct {
		models  []catalog.Model
		sources []catalog.Source
	}{
		`provider name "Open"`:                {sources: []catalog.Source{{Provider: "Open"}}},
		`provider name ""`:                    {sources: []catalog.Source{{}}},
		`provider name "a/b"`:                 {sources: []catalog.Source{{Provider: "a/b"}}},
		`provider name "a\n"`:                 {sources: []catalog.Source{{Provider: "a\n"}}},
		`provider "a" is configured twice`:    {sources: []catalog.Source{{Provider: "a"}, {Provider: "a"}}},
		`provider "a": models: pattern is em`: {sources: []catalog.Source{{Provider: "a", Patterns: []string{"x", ""}}}},
		`model "p/": name is empty`:           {models: known("p/")},
		`model "/n": provider: name is empty`: {models: known("/n")},
	} {
		if _, err := catalog.NewCatalog(tc.models, tc.sources); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// TestListAndResolveUnderRefresh runs under the race detector, and checks that a list comes from
// one index.
func TestListAndResolveUnderRefresh(t *testing.T) {
	c := newCatalog(t, nil, catalog.Source{Provider: "p", Discover: true})
	even, odd := known("p/a", "p/b"), known("p/c", "p/d")
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := range 200 {
				c.SetDiscovered("p", [][]catalog.Model{even, odd}[i%2])
			}
		})
		wg.Go(func() {
			for range 200 {
				if got := list(c); got != "" && got != "p/a p/b" && got != "p/c p/d" {
					t.Errorf("a mixed list: %q", got)
				}
				if m, err := c.Resolve("p/a"); err == nil && m.ID != "p/a" {
					t.Errorf("p/a resolved to %q", m.ID)
				}
			}
		})
	}
	wg.Wait()
}
