package gateway_test

import (
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

func TestAdmitFindsTheModelAndItsProvider(t *testing.T) {
	r := resolving(t)
	for name, upstream := range map[string]string{
		"acme/m": "m", "acme/vendor/deep:free": "vendor/deep:free", "chatty/any/name": "any/name",
	} {
		call := r.begin(t)
		if err := call.Admit(t.Context(), provider.Chat, name); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if call.UpstreamModel() != upstream || name != call.Provider().Name+"/"+upstream || call.Record.UpstreamModel != upstream {
			t.Errorf("%s: provider %q, model %q", name, call.Provider().Name, call.UpstreamModel())
		}
		call.Succeed(200)
		call.Finish()
	}
}

func TestAdmitRefuses(t *testing.T) {
	r := resolving(t, "acme/*", "chatty/any", "chatty/pro", "elsewhere/*", "nobody/*")
	for _, c := range []struct {
		op    provider.Operation
		model string
		code  apierror.Code
		text  string
	}{
		{provider.Chat, "nobody/m", apierror.ModelNotFound, `"nobody/m" does not exist or this key may not use it`},
		{provider.Chat, "chatty/other", apierror.ModelNotFound, `"chatty/other" does not exist or this key may not use it`},
		{provider.Chat, "m", apierror.ModelNotFound, `"m"`},
		{provider.Chat, "acme/none", apierror.ModelNotFound, `"acme/none"`},
		{provider.Chat, "acme/hidden", apierror.ModelNotCallable, "in the catalog but not callable"},
		{provider.Chat, "acme/embed", apierror.ModelNotCallable, "not callable"},
		{provider.Chat, "elsewhere/m", apierror.ModelNotCallable, "not callable"},
		{provider.Chat, "acme/pro", apierror.ModelNotCallable, "does not serve chat"},
		{provider.Responses, "chatty/pro", apierror.ModelNotCallable, "the one API of its provider"},
		{provider.Chat, "acme/" + strings.Repeat("x", 252), apierror.ModelNotFound, "257 bytes"},
	} {
		call := r.begin(t)
		err := call.Admit(t.Context(), c.op, c.model)
		wantFault(t, err, c.code, c.text)
		if e := apierror.From(err); e.Param != "model" {
			t.Errorf("%s: param %q", c.model, e.Param)
		}
		call.Fail(apierror.From(err))
		call.Finish()
	}
}

// The list and the router are one index: whatever is listed is admitted.
func TestWhatIsListedIsAdmitted(t *testing.T) {
	r := resolving(t, "acme/*")
	credential, err := r.Authenticate(secret)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	models, err := r.Models(t.Context(), credential.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		listed = append(listed, m.ID)
		op := provider.Chat
		if m.Mode == catalog.ModeResponses {
			op = provider.Responses
		}
		call := r.begin(t)
		if err := call.Admit(t.Context(), op, m.ID); err != nil {
			t.Errorf("%s is listed: %v", m.ID, err)
		}
		if one, err := r.Model(t.Context(), credential.Key, m.ID); err != nil || one.ID != m.ID {
			t.Errorf("%s is listed, alone it is %q, %v", m.ID, one.ID, err)
		}
		call.Succeed(200)
		call.Finish()
	}
	if want := "acme/m acme/pro acme/vendor/deep:free"; strings.Join(listed, " ") != want {
		t.Errorf("listed %q, want %q", listed, want)
	}
	for _, name := range []string{"chatty/any", "acme/hidden", "acme/none", strings.Repeat("x", 300)} {
		_, err := r.Model(t.Context(), credential.Key, name)
		wantFault(t, err, apierror.ModelNotFound, "does not exist")
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
	for name, want := range map[string]string{
		"m":        ": this key can call acme/m, acme/vendor/m",
		"vendor/m": ": this key can call acme/vendor/m",
		"many":     ": this key can call acme/a/many, acme/b/many, acme/c/many, acme/d/many, acme/e/many",
		"vendor/":  "may not use it",
		"":         "may not use it",
		"none":     "may not use it",
		"chatty/m": "may not use it",
	} {
		call := r.begin(t)
		err := call.Admit(t.Context(), provider.Chat, name)
		if wantFault(t, err, apierror.ModelNotFound, name); !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v, want …%s", name, err, want)
		}
		if _, other := r.Model(t.Context(), call.Credential.Key, name); other == nil || other.Error() != err.Error() {
			t.Errorf("%q: the list says %v, a call %v", name, other, err)
		}
		call.Finish()
	}
}
