package tests

import (
	"os/exec"
	"strings"
	"testing"
)

// ownedKey is a key of a tenant.
func ownedKey(name, tenant, options string) string {
	return keyBlock(name, "tenant "+tenant+"\n"+options)
}

func TestAnotherTenantsLimitsDoNotExist(t *testing.T) {
	h := startPriced(t, setup{
		keys: "key full {\nsecret {env.KEY_FULL}\nscopes chat:write limits:read\ntenant acme\nbudget 1usd/day\n}\n" +
			ownedKey("chat", "acme", "rate 60/min") + ownedKey("other", "lab", "budget 2usd/day") +
			"key models {\nsecret {env.KEY_MODELS}\nscopes limits:read\ntenant operators\nall_tenants\n}\n",
		options: "tenant lab {\nconcurrency 7\n}\ntenant acme {\nbudget 50usd/week\n}\nmodel fake/* {\nrate 900/min\n}\nbudget 9usd/total",
	})
	for _, key := range []string{"full", "other"} {
		if a := h.post(chatV1, key, `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	subjects := func(query, key string) string {
		t.Helper()
		a := h.get("/api/v1/limits"+query, key)
		list, ok := at(parse(t, a.body), "data").([]any)
		if a.status != 200 || !ok {
			t.Fatalf("%s: %d %s", key, a.status, a.body)
		}
		var names []string
		for _, row := range list {
			name, _ := at(row, "subject").(string)
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
		if body := string(h.get("/api/v1/limits?subject=gateway", key).body); !strings.Contains(body, want) || !strings.Contains(body, `"limit":9,`) {
			t.Errorf("%s: %s", key, body)
		}
	}
	if body := string(h.get("/api/v1/limits?subject=key:full", "full").body); !strings.Contains(body, `"spent":0.000501,"reserved":0`) {
		t.Errorf("%s", body)
	}
	// A read counts nothing.
	if body := string(h.get("/api/v1/limits", "chat").body); !strings.Contains(body, `"remaining":60`) {
		t.Errorf("%s", body)
	}
}

func TestTheCommandShowsLimits(t *testing.T) {
	h := vacant(t)
	h.writeCatalog()
	admin := "unix//" + h.dir + "/admin"
	c := h.run(setup{keys: limitedKey("budget 1usd/day\nrate 3/h"), options: "catalog DIR/prices.json", global: "admin " + admin})
	if a := h.post(chatV1, "full", `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), c.cmd.Path)
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
