package catalog_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// An alias names its targets; the patterns of the provider hold for them all the same.
func TestNamedModelsNeedNoList(t *testing.T) {
	c := newCatalog(t, nil,
		catalog.Source{Provider: "p", Patterns: []string{"*"}, Discover: true, Named: []string{"target"}},
		catalog.Source{Provider: "q", Discover: true, Named: []string{"target"}},
		catalog.Source{Provider: "r", Patterns: []string{"gpt-*"}, Discover: true, Named: []string{"target"}})
	wantErrors(t, c, map[string]error{"p/target": nil, "q/target": nil, "r/target": catalog.ErrUnknown, "p/other": catalog.ErrUnlisted})
	for _, provider := range []string{"p", "q", "r"} {
		c.SetDiscovered(provider, known(provider+"/listed"))
	}
	wantErrors(t, c, map[string]error{"p/target": nil, "q/target": nil, "r/target": catalog.ErrUnknown, "p/other": catalog.ErrUnknown, "q/listed": nil})
	for name, lacks := range map[string]bool{"p/other": true, "q/other": true, "r/other": false, "r/gpt-9": true, "none/x": false, "p/": false} {
		if c.Lacks(name) != lacks {
			t.Errorf("%s is lacking: %v", name, !lacks)
		}
	}
}
