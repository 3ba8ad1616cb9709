package handlers

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestProvidersAreListedWithTheHealthOfTheirModels(t *testing.T) {
	state := gateway.NewState(t.TempDir(), func() time.Time { return noon })
	g := startGateway(t, setup{State: state})
	const nothing = `{"object":"list","data":[{"object":"provider","id":"acme","endpoints":[{"name":null,"host":"acme.invalid"}],"targets":[]}]}`
	if a := call(t, g, "GET", "/v1/providers", "full", ""); a.Code != 200 || a.Body.String() != nothing {
		t.Errorf("without calls: %d %s", a.Code, a.Body)
	}
	for id, class := range map[string]failover.Class{
		"acme/m": failover.RateLimited, "acme/n": failover.Success, "acme/made-up": failover.Failure,
	} {
		trial := state.Health.Begin(id, false)
		trial.End(failover.Result{Class: class, RetryAfter: 2 * time.Minute})
	}
	a := call(t, g, "GET", "/v1/providers", "full", "")
	want := `"targets":[{"id":"acme/m","model":"acme/m","endpoint":null,"state":"cooling","cooldown_until":"2026-03-18T12:02:00Z",` +
		`"attempts":1,"failures":1,"last_failure_class":"rate_limited","last_failure_at":"2026-03-18T12:00:00Z","last_success_at":null},` +
		`{"id":"acme/n","model":"acme/n","endpoint":null,"state":"healthy","cooldown_until":null,` +
		`"attempts":1,"failures":0,"last_failure_class":null,"last_failure_at":null,"last_success_at":"2026-03-18T12:00:00Z"}]`
	if !strings.Contains(a.Body.String(), want) {
		t.Errorf("got  %s\nwant %s", a.Body, want)
	}
	call(t, g, "GET", "/v1/providers", "chat", "").Want(t, 403, "insufficient_scope", "providers:read")
	call(t, g, "GET", "/v1/providers?limit=1", "full", "").Want(t, 400, "unsupported_parameter", "limit")
}

// A key sees the health of what it can call.
func TestProvidersShowAKeyOnlyItsModels(t *testing.T) {
	state := gateway.NewState(t.TempDir(), func() time.Time { return noon })
	g := startGateway(t, setup{State: state})
	for _, id := range []string{"acme/m", "acme/n"} {
		trial := state.Health.Begin(id, false)
		trial.End(failover.Result{})
	}
	a := call(t, g, "GET", "/v1/providers", "one-model", "")
	if targets, _ := a.At(t, "data", 0, "targets").([]any); len(targets) != 1 || a.At(t, "data", 0, "targets", 0, "id") != "acme/n" {
		t.Errorf("%s", a.Body)
	}
}

func TestProvidersSayWhyAModelCannotBeCalled(t *testing.T) {
	g := startGateway(t, setup{})
	for _, test := range []struct{ key, model, want string }{
		{"full", "acme/m", `"model":{"id":"acme/m","callable":true,"reason":null,"advice":null}`},
		{"full", "acme/new", `"callable":false,"reason":"neither a catalog nor a list of the provider \"acme\" has it","advice":"write \"models new\" in its block"`},
		{"full", "other/m", `"reason":"there is no provider \"other\", and no such alias","advice":"add a block for the provider"`},
		{"full", "m", `"reason":"a name is PROVIDER/MODEL, or an alias, and there is no such alias","advice":"name its provider too"`},
		{"one-model", "acme/m", `"reason":"the lists of this key and its tenant do not have it"`},
		{"full", strings.Repeat("x", 257), `"reason":"no name has more than 256 bytes","advice":null`},
	} {
		if a := call(t, g, "GET", "/v1/providers?model="+test.model, test.key, ""); a.Code != 200 || !strings.Contains(a.Body.String(), test.want) {
			t.Errorf("%s with %s: %d %s", test.model, test.key, a.Code, a.Body)
		}
	}
	if a := call(t, g, "GET", "/v1/providers", "full", ""); len(jsontest.Values(t, a.Body.String(), "model")) > 0 {
		t.Errorf("nothing was asked: %s", a.Body)
	}
}
