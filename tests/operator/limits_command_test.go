package operator

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestTheCommandShowsBudgets(t *testing.T) {
	h := harness.Vacant(t)
	harness.WriteCatalog(h)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Keys: harness.FullKey("budget 1usd/day"), Options: "catalog DIR/prices.json\nbudget 5M tokens/total soft", Global: "admin " + admin})
	if a := h.Client.Post(harness.ChatV1, "full", `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	show := exec.CommandContext(t.Context(), c.Cmd.Path)
	show.Args = []string{"caddy", "gatehouse", "budget", "--address", admin}
	out, err := show.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if len(lines) != 3 || lines[0] != "SUBJECT BUDGET SPENT RESERVED RESETS" ||
		lines[1] != "gateway 5000000 tokens/total soft 51 0 never" || !strings.HasPrefix(lines[2], "key:full 1usd/day 0.000501 0 2") {
		t.Errorf("%s", out)
	}
}

// Spending under a name that is no longer configured is logged at the start.
func TestARenamedKeyIsWarnedAbout(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 1usd/day")})
	if a := h.Client.Post(harness.ChatV1, "full", `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if text := harness.Log.Text(); strings.Contains(text, "not configured any more") {
		t.Error("a warning without a reason")
	}
	h.Become(harness.Setup{})
	if text := harness.Log.Text(); !strings.Contains(text, "not configured any more") || !jsontest.Has(t, text, `{"subject":"key:full"}`) {
		t.Error("no warning")
	}
}
