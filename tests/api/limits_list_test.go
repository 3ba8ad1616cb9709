package api

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// ownedKey is a key of a tenant.
func ownedKey(name, tenant, options string) string {
	return harness.Key(name, "tenant "+tenant+"\n"+options)
}

func TestAnotherTenantsLimitsDoNotExist(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{
		Keys: "key full {\nsecret {env.KEY_FULL}\nscopes chat:write limits:read\ntenant acme\nbudget 1usd/day\n}\n" +
			ownedKey("chat", "acme", "rate 60/min") + ownedKey("other", "lab", "budget 2usd/day") +
			"key models {\nsecret {env.KEY_MODELS}\nscopes limits:read\ntenant operators\nall_tenants\n}\n",
		Options: "tenant lab {\nconcurrency 7\n}\ntenant acme {\nbudget 50usd/week\n}\nmodel fake/* {\nrate 900/min\n}\nbudget 9usd/total",
	})
	for _, key := range []string{"full", "other"} {
		if a := h.Client.Post(harness.ChatV1, key, `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	subjects := func(query, key string) string {
		t.Helper()
		a := h.Client.Get("/api/v1/limits"+query, key)
		list, ok := harness.At(harness.Parse(t, a.Body), "data").([]any)
		if a.Status != 200 || !ok {
			t.Fatalf("%s: %d %s", key, a.Status, a.Body)
		}
		var names []string
		for _, row := range list {
			name, _ := harness.At(row, "subject").(string)
			names = append(names, name)
		}
		return strings.Join(names, " ")
	}
	for _, c := range []struct{ query, key, want string }{
		{"", "full", "gateway key:chat key:full model:fake/* tenant:acme"},
		{"?tenant=acme", "full", "gateway key:chat key:full model:fake/* tenant:acme"},
		{"?tenant=lab", "full", ""},
		{"?subject=key:other", "full", ""},
		{"", "chat", "key:chat"}, // without the scope
		{"", "other", "key:other"},
		{"", "models", "gateway key:chat key:full key:other model:fake/* tenant:acme tenant:lab"},
		{"?tenant=lab", "models", "gateway key:other model:fake/* tenant:lab"},
	} {
		if got := subjects(c.query, c.key); got != c.want {
			t.Errorf("%s with %q sees %q, want %q", c.key, c.query, got, c.want)
		}
	}
	// Money is an exact decimal number. What others have spent of a shared budget is for operators.
	for key, want := range map[string]string{"full": `"spent":null`, "models": `"spent":0.001002`} {
		if body := string(h.Client.Get("/api/v1/limits?subject=gateway", key).Body); !strings.Contains(body, want) || !jsontest.Has(t, body, `{"limit":9}`) {
			t.Errorf("%s: %s", key, body)
		}
	}
	if body := string(h.Client.Get("/api/v1/limits?subject=key:full", "full").Body); !jsontest.Has(t, body, `{"spent":0.000501,"reserved":0}`) {
		t.Errorf("%s", body)
	}
	// A read counts nothing.
	if body := string(h.Client.Get("/api/v1/limits", "chat").Body); !jsontest.Has(t, body, `{"remaining":60}`) {
		t.Errorf("%s", body)
	}
}

func TestTheCommandShowsLimits(t *testing.T) {
	h := harness.Vacant(t)
	harness.WriteCatalog(h)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Keys: harness.FullKey("budget 1usd/day\nrate 3/h"), Options: "catalog DIR/prices.json", Global: "admin " + admin})
	if a := h.Client.Post(harness.ChatV1, "full", `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), c.Cmd.Path)
		cmd.Args = append([]string{"caddy", "gatehouse"}, append(args, "--address", admin)...)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if out := run("limits", "--type", "rate"); !strings.HasPrefix(out, "SUBJECT") || !strings.Contains(out, "rate 3/h") || !strings.Contains(out, " 33%  in ") {
		t.Errorf("%s", out)
	}
	if out := run("limits", "--full", "90"); out != "No limits, or none that the flags choose.\n" {
		t.Errorf("%s", out)
	}
	if out := run("limits", "--type", "money"); !strings.Contains(out, "type: must be budget, rate or concurrency") {
		t.Errorf("%s", out)
	}
	if out := run("sessions"); !strings.Contains(out, "the running configuration has no workstations: the option vnc is missing") {
		t.Errorf("%s", out)
	}
}

func TestKeysMadeAtRunTimeAreAmongTheLimits(t *testing.T) {
	h := harness.Start(t, harness.Setup{
		Keys:    "key full {\nsecret {env.KEY_FULL}\nscopes keys:manage limits:read\nrate 60/min\n}\n" + ownedKey("other", "lab", ""),
		Options: "runtime_keys {\nscopes chat:write\nrate 7/min\n}",
	})
	made := harness.Parse(t, h.Client.Want(201, "POST", "/api/v1/keys", "full", `{"name":"made","limit":1.5,"limit_reset":"daily"}`).Body)
	secret, _ := harness.At(made, "key").(string)
	hash, _ := harness.At(made, "data", "hash").(string)
	own := h.Client.Request("/api/v1/limits", "", "")
	own.Header.Set("Authorization", "Bearer "+secret)
	for by, a := range map[string]harness.Answer{"itself": h.Client.Send(own), "its tenant": h.Client.Get("/api/v1/limits?subject=key:"+hash, "full")} {
		body := string(a.Body)
		if a.Status != 200 || !jsontest.Has(t, body, `{"subject":"key:`+hash+`","tenant":"default","type":"budget","configured":"1.5usd/day"}`) ||
			!jsontest.Has(t, body, `{"configured":"7/min"}`) || strings.Count(body, `"subject"`) != 2 {
			t.Errorf("seen by %s: %d %s", by, a.Status, body)
		}
	}
	if body := string(h.Client.Get("/api/v1/limits", "full").Body); strings.Count(body, `"subject"`) != 3 {
		t.Errorf("all of the tenant: %s", body)
	}
}
