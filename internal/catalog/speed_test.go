package catalog_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// large returns a catalog of the public price map's size.
func large(t testing.TB) *catalog.Catalog {
	var models []catalog.Model
	for i := range 3000 {
		models = append(models, catalog.Model{Provider: "openai", Name: fmt.Sprintf("vendor/model-%d:free", i), Mode: catalog.ModeChat})
	}
	return newCatalog(t, models, catalog.Source{Provider: "openai", Patterns: []string{"vendor/*"}, Discover: true})
}

func TestResolveAllocatesNothing(t *testing.T) {
	c := large(t)
	for _, name := range []string{"openai/vendor/model-1234:free", "openai/nobody", "nobody/nothing"} {
		if n := testing.AllocsPerRun(100, func() { _, _ = c.Resolve(name) }); n != 0 {
			t.Errorf("Resolve(%q): %v allocations", name, n)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	c := large(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Resolve("openai/vendor/model-1234:free"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	c := large(b)
	for b.Loop() {
		c.List(func(string) bool { return true })
	}
}

func BenchmarkSetDiscovered(b *testing.B) {
	c := large(b)
	lists := [2][]catalog.Model{c.List(nil), c.List(nil)[:2000]}
	for i := 0; b.Loop(); i++ {
		c.SetDiscovered("openai", lists[i%2])
	}
}

func BenchmarkCostNano(b *testing.B) {
	price := &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(3e9), Completion: catalog.Quoted(15e9), CacheRead: catalog.Quoted(3e8)}}
	b.ReportAllocs()
	for b.Loop() {
		price.CostNano(catalog.Tokens{Prompt: 1000, Cached: 400, Completion: 100, Reasoning: 60})
	}
}
