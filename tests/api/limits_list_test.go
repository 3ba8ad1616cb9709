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
