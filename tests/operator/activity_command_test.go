package operator

import (
	"encoding/csv"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestTheCommandsShowTheActivityOfTheRunningCaddy(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Global: "admin " + admin})
	if a := h.Client.Post("/v1/chat/completions", "full", `{"model":"none/such","messages":[{"role":"user","content":"hi"}]}`); a.Status != 404 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	show := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), c.Cmd.Path)
		cmd.Args = append(append([]string{"caddy", "gatehouse"}, args...), "--address", admin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	if out := show("activity"); !strings.HasPrefix(out, "TIME (UTC)") || !strings.Contains(out, "404 model_not_found") {
		t.Errorf("activity:\n%s", out)
	}
	if out := show("activity", "--code", "none"); out != "No calls.\n" {
		t.Errorf("no activity:\n%s", out)
	}
	if out := show("series", "--by", "code", "--step", "hour", "--chart", "errors"); !strings.Contains(out, "CODE ") || !strings.Contains(out, "model_not_found") || !strings.Contains(out, "\nErrors\n") {
		t.Errorf("series:\n%s", out)
	}
	if out := show("series", "--rebuild"); !strings.HasPrefix(out, "The series were made again from ") {
		t.Errorf("rebuild:\n%s", out)
	}
	var answer struct {
		Total struct{ Total struct{ Errors int } }
	}
	if out := show("series", "--json"); json.Unmarshal([]byte(out), &answer) != nil || answer.Total.Total.Errors != 1 {
		t.Errorf("series as JSON:\n%s", out)
	}
	for _, command := range []string{"activity", "series"} {
		if rows, err := csv.NewReader(strings.NewReader(show(command, "--csv"))).ReadAll(); err != nil || len(rows) < 2 {
			t.Errorf("%s as CSV: %v, %v", command, rows, err)
		}
	}
}
