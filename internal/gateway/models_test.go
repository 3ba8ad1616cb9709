package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// resolving is a gateway over a small catalog: acme has a Responses API, chatty has not.
func resolving(t *testing.T, patterns ...string) *rig {
	t.Helper()
	models := []catalog.Model{
		{Provider: "acme", Name: "m"}, {Provider: "acme", Name: "vendor/deep:free"}, {Provider: "acme", Name: "hidden"},
		{Provider: "acme", Name: "embed", Mode: "embedding"}, {Provider: "acme", Name: "pro", Mode: catalog.ModeResponses},
		{Provider: "elsewhere", Name: "m"}, {Provider: "chatty", Name: "pro", Mode: catalog.ModeResponses},
	}
	r := newRig(t, gateway.Config{
		Keyring: newRing(t, keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: []string{"chat:write"}, Models: patterns}),
		Catalog: newCatalog(t, models,
			catalog.Source{Provider: "acme", Patterns: []string{"m", "vendor/*", "embed", "pro"}},
			catalog.Source{Provider: "chatty", Patterns: []string{"*"}}),
		Providers: []*provider.Provider{
			newProvider(t, "acme", true, answering(200, "{}")), newProvider(t, "chatty", false, answering(200, "{}")),
		},
	})
	return r.start(t, t.Context())
}

func TestFindReturnsTheModelAndItsProvider(t *testing.T) {
	r := resolving(t)
	for name, upstream := range map[string]string{
		"acme/m": "m", "acme/vendor/deep:free": "vendor/deep:free", "chatty/any/name": "any/name",
	} {
		m, p, err := r.find(t, t.Context(), name)
		if err != nil || m.Name != upstream || name != p.Name+"/"+upstream {
			t.Errorf("%s: model %q, %v", name, m.Name, err)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	r := resolving(t, "acme/*", "chatty/any", "elsewhere/*", "nobody/*")
	for _, c := range []struct {
		model, text string
		hidden      bool // known and not callable
	}{
		{"nobody/m", `"nobody/m" does not exist or this key may not use it`, false},
		{"chatty/other", `"chatty/other" does not exist or this key may not use it`, false},
		{"m", `"m"`, false},
		{"acme/none", `"acme/none"`, false},
		{"acme/hidden", `"acme/hidden"`, true},
		{"elsewhere/m", `"elsewhere/m"`, true},
		{"acme/" + strings.Repeat("x", 252), "257 bytes", false},
	} {
		_, _, err := r.find(t, t.Context(), c.model)
		wantRefusal(t, err, apierror.ModelNotFound, c.text)
		if e := apierror.From(err); e.Param != "model" || errors.Is(err, catalog.ErrNotCallable) != c.hidden {
			t.Errorf("%s: param %q, cause %v", c.model, e.Param, e.Cause)
		}
	}
}

// The list and the router are one index.
func TestEachListedModelIsFound(t *testing.T) {
	r := resolving(t, "acme/*")
	credential, err := r.Authenticate(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	models, err := r.Models().List(t.Context(), credential.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		listed = append(listed, m.ID)
		if found, _, err := r.find(t, t.Context(), m.ID); err != nil || found.ID != m.ID {
			t.Errorf("%s is listed: %v", m.ID, err)
		}
		if one, err := r.Models().Get(t.Context(), credential.Key, m.ID); err != nil || one.ID != m.ID {
			t.Errorf("%s is listed, alone it is %q, %v", m.ID, one.ID, err)
		}
	}
	if want := "acme/embed acme/m acme/pro acme/vendor/deep:free"; strings.Join(listed, " ") != want {
		t.Errorf("listed %q, want %q", listed, want)
	}
	for _, name := range []string{"chatty/any", "acme/hidden", "acme/none", strings.Repeat("x", 300)} {
		_, err := r.Models().Get(t.Context(), credential.Key, name)
		wantRefusal(t, err, apierror.ModelNotFound, "does not exist")
	}
}

// Some clients take the part before the first slash off the name.
func TestARefusalNamesTheModelsThatWereMeant(t *testing.T) {
	models := []catalog.Model{
		{Provider: "acme", Name: "m"}, {Provider: "acme", Name: "vendor/m"}, {Provider: "acme", Name: "vendor/m:free"},
		{Provider: "acme", Name: "my-m"}, {Provider: "chatty", Name: "m"}, {Provider: "elsewhere", Name: "m"},
	}
	for i := range 9 {
		models = append(models, catalog.Model{Provider: "acme", Name: string(rune('a'+i)) + "/many"})
	}
	r := newRig(t, gateway.Config{
		Keyring: newRing(t, keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: []string{"chat:write"}, Models: []string{"acme/*"}}),
		Catalog: newCatalog(t, models,
			catalog.Source{Provider: "acme", Patterns: []string{"m*", "v*", "*/many"}}, catalog.Source{Provider: "chatty", Patterns: []string{"m"}}),
		Providers: []*provider.Provider{
			newProvider(t, "acme", true, answering(200, "{}")), newProvider(t, "chatty", true, answering(200, "{}")),
		},
	}).start(t, t.Context())
	caller, err := r.Authenticate(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"m":        ": this key can call acme/m, acme/vendor/m",
		"vendor/m": ": this key can call acme/vendor/m",
		"many":     ": this key can call acme/a/many, acme/b/many, acme/c/many, acme/d/many, acme/e/many",
		"vendor/":  "may not use it",
		"":         "may not use it",
		"none":     "may not use it",
		"chatty/m": "may not use it",
	} {
		_, _, err := r.find(t, t.Context(), name)
		if wantRefusal(t, err, apierror.ModelNotFound, name); !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want …%s", name, err, want)
		}
		if _, other := r.Models().Get(t.Context(), caller.Key, name); other == nil || other.Error() != err.Error() {
			t.Errorf("%q: the list says %v, a call %v", name, other, err)
		}
	}
}
