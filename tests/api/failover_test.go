package api

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// failoverKeys are a key that may call aliases only, and one that reads what became of it.
const failoverKeys = `
	key full {
		secret {env.KEY_FULL}
		scopes chat:write models:read activity:read
		models team/*
		budget 10usd/day
	}
	key activity {
		secret {env.KEY_ACTIVITY}
		scopes activity:read providers:read
	}
`

// startFailover boots Caddy with an alias team/NAME for each row: models of package faults at the
// provider first, or at the one before a colon. Each model is a group of its own.
func startFailover(t *testing.T, s harness.Setup, aliases map[string][]string) (*harness.Gateway, harness.Setup) {
	t.Helper()
	h := harness.Prepare(t)
	described := make(map[string]string)
	for alias, targets := range aliases {
		s.Options += "\nalias team/" + alias + " {\n"
		for i, target := range targets {
			of, model, given := strings.Cut(target, ":")
			if !given {
				of, model = []string{"first", "second", "third"}[i], target
			}
			s.Options += "group {\ntarget " + of + "/" + model + "\n}\n"
			described[of+"/"+model] = fmt.Sprintf(`{"id":%q,"context_length":%d,"price":{"prompt":"%d","completion":"%d"}}`, of+"/"+model, 3000-1000*i, 1+i, 10+i)
		}
		s.Options += "}"
	}
	models := strings.Join(slices.Collect(maps.Values(described)), ",")
	if err := os.WriteFile(filepath.Join(h.Dir, "prices.json"), []byte(`{"models":[`+models+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Options += "\ncatalog DIR/prices.json"
	if s.Keys == "" {
		s.Keys = failoverKeys
	}
	if s.Providers == "" {
		for _, name := range []string{"first", "second", "third"} {
			s.Providers += "provider " + name + " {\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\n}\n"
		}
	}
	if err := h.Reload(s); err != nil {
		t.Fatal(err)
	}
	return h, s
}

// attempted is each attempt of a row of the activity or of a generation: "target code".
func attempted(row any) (all []string) {
	list, _ := harness.At(row, "attempted").([]any)
	for _, a := range list {
		target, _ := harness.At(a, "target").(string)
		code, _ := harness.At(a, "code").(string)
		all = append(all, strings.TrimSpace(target+" "+code))
	}
	return all
}

// command runs a caddy command and returns what it prints.
func command(h *harness.Gateway, args ...string) string {
	h.T.Helper()
	self, err := os.Executable()
	if err != nil {
		h.T.Fatal(err)
	}
	c := exec.CommandContext(h.T.Context(), self)
	c.Args = append([]string{"caddy"}, args...)
	out, err := c.CombinedOutput()
	if err != nil {
		h.T.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// What a target has met is known to all aliases, after a reload too, and an operator sees it.
func TestTheHealthOfTargetsIsShownAndKept(t *testing.T) {
	h, s := startFailover(t, harness.Setup{Global: "admin unix//DIR/admin"}, map[string][]string{"locked": {"err-401", "echo"}, "other": {"err-401", "echo"}})
	call := func(alias string) []string {
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat("team/"+alias, ""))
		if a.Status != 200 {
			t.Fatalf("%s: %d %s", alias, a.Status, a.Body)
		}
		return attempted(h.Records.Row(a.Header.Get("X-Request-Id")))
	}
	if got := call("locked"); len(got) != 2 {
		t.Errorf("attempts %q", got)
	}
	if got := call("other"); strings.Join(got, " ") != "second/echo" {
		t.Errorf("another alias asks %q", got)
	}
	shown := func(state string) {
		t.Helper()
		out := command(h, "gatehouse", "providers", "--address", "unix//"+h.Dir+"/admin")
		if !regexp.MustCompile(`first +first/err-401 +` + state + ` .* lasting `).MatchString(out) {
			t.Errorf("the command shows\n%s", out)
		}
	}
	shown("cooling")
	s.Options += "\non_disconnect drain 5s"
	h.Become(s)
	list := h.Client.Get("/v1/providers", "activity")
	var found any
	for _, p := range harness.At(harness.Parse(t, list.Body), "data").([]any) {
		targets, _ := harness.At(p, "targets").([]any)
		for _, target := range targets {
			if harness.At(target, "id") == "first/err-401" {
				found = target
			}
		}
	}
	if harness.At(found, "last_failure_class") != "lasting" || harness.At(found, "failures") != harness.Number("1") {
		t.Errorf("after a reload: %s", list.Body)
	}
	metrics := string(h.Client.Get("/metrics", "").Body)
	for _, line := range []string{
		`gatehouse_provider_attempts_total{code="upstream_auth_error",outcome="auth",provider="first"} 1`, `gatehouse_provider_attempts_total{code="",outcome="ok",provider="second"} 2`,
		`gatehouse_provider_up{`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no %s in the metrics:\n%s", line, metrics)
		}
	}
	shown("probing") // the configuration may have what was missing
}

// Each endpoint of a provider is a target of its own: one that is down leaves the other in use.
func TestTheEndpointsOfAProviderAreCooledApart(t *testing.T) {
	down, err := net.Listen("tcp", "127.0.0.1:0") // and closed: nobody listens there
	if err != nil {
		t.Fatal(err)
	}
	_ = down.Close()
	h, _ := startFailover(t, harness.Setup{Keys: strings.Replace(failoverKeys, "team/*", "pair/*", 1), Providers: `
		provider pair {
			endpoint east {
				base_url http://` + down.Addr().String() + `/v1
			}
			endpoint west {
				base_url PROVIDER/v1
			}
			models *
			discover off
		}`}, map[string][]string{"x": {"pair:echo"}})
	for range 20 {
		if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("pair/echo", "")); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	states := make(map[any]any)
	targets, _ := harness.At(harness.Parse(t, h.Client.Get("/v1/providers", "activity").Body), "data", 0, "targets").([]any)
	for _, target := range targets {
		states[harness.At(target, "id")] = harness.At(target, "state")
	}
	if states["pair/echo@east"] != "cooling" || states["pair/echo@west"] != "healthy" {
		t.Errorf("the endpoints are %v", states)
	}
}
