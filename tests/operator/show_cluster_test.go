package operator

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// The engine's password is in no output. A reload with another block changes nothing.
func TestAnOperatorSeesTheClusterAndCannotReloadIt(t *testing.T) {
	const password = "canary:of/the@engine"
	engine := enginetest.Redis(t, "requirepass", password)
	t.Setenv("ENGINE_PASSWORD", password)
	t.Setenv("DATABASE", enginetest.StartPostgres(t).Database(t))
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	block := "cluster prod {\nvalkey redis://:{env.ENGINE_PASSWORD}@127.0.0.1:" + strconv.Itoa(engine.Port()) + "\npostgres {env.DATABASE}\nnode gw-1\n}\n"
	config := harness.Setup{Options: block, Global: "admin " + admin, Site: "gatehouse_health\nmetrics /metrics\ngatehouse"}
	c := h.Run(config)
	file := filepath.Join(h.Dir, "Caddyfile-"+strconv.Itoa(h.Ports.HTTP))

	out, failure, err := c.Operate("cluster", "--address", admin)
	for _, want := range []string{"Cluster prod, seen by node gw-1.", "\nValkey      ok ", "\nPostgreSQL  ok ", "\nNODE "} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v %s\nno %q in\n%s", err, failure, want, out)
		}
	}
	harness.WantDocumented(t, "cluster.md", "caddy gatehouse cluster", out)
	documented, err := manual.Find("../..", "docs/activity.md", "$ psql")
	if err != nil {
		t.Fatal(err)
	}
	sql := exec.CommandContext(t.Context(), "sh", "-ec", strings.TrimPrefix(documented.Text, "$ "))
	sql.Env = append(os.Environ(), "GATEHOUSE_DSN="+os.Getenv("DATABASE"))
	if rows, err := sql.CombinedOutput(); err != nil {
		t.Errorf("%s: %v %s", documented, err, rows)
	}
	asJSON, failure, _ := c.Operate("cluster", "--json", "--address", admin)
	var status report.ClusterStatus
	if err := json.Unmarshal([]byte(asJSON), &status); err != nil || status.Name != "prod" || len(status.Nodes) != 1 {
		t.Errorf("%v %s %s", err, asJSON, failure)
	}
	health := h.Client.Get("/readyz", "")
	if health.Status != 200 || !jsontest.Has(t, health.Body, `{"cluster":"ok","database":"ok","engine":"ok"}`) {
		t.Errorf("%d %s", health.Status, health.Body)
	}
	report, failure, err := c.Operate("check", "--dial", "--config", file)
	for _, want := range []string{"cluster prod", "PostgreSQL 1", "Redis 7", "maxmemory-policy"} {
		if !strings.Contains(report, want) {
			t.Errorf("%v %s\nno %q in\n%s", err, failure, want, report)
		}
	}

	if page := string(h.Client.Get("/metrics", "").Body); !strings.Contains(page, `gatehouse_cluster_engine_message_seconds_count{message="beat"}`) || !strings.Contains(page, "gatehouse_cluster_engine_up 1") {
		t.Error("the metrics do not show messages to the engine")
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, changed := range map[string]string{
		"another node":     strings.Replace(string(text), "node gw-1", "node gw-2", 1),
		"no cluster":       strings.Replace(string(text), block, "", 1),
		"another data_dir": regexp.MustCompile(`data_dir \S+`).ReplaceAllString(strings.Replace(string(text), "node gw-1\n", "", 1), "data_dir "+t.TempDir()),
	} {
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		reload := exec.CommandContext(t.Context(), c.Cmd.Path)
		reload.Args = []string{"caddy", "reload", "--config", file, "--adapter", "caddyfile", "--address", admin}
		if out, err := reload.CombinedOutput(); err == nil || !strings.Contains(string(out), "restart the gateway") {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if a := h.Client.Get("/v1/models", "full"); a.Status != 200 {
		t.Errorf("after it: %d", a.Status)
	}

	engine.Kill()
	if !harness.Eventually(func() bool { return jsontest.Has(t, h.Client.Get("/readyz", "").Body, `{"engine":"degraded"}`) }) {
		t.Error("the probe says that the engine answers")
	}
	gone, failure, err := c.Operate("check", "--dial", "--config", file)
	if err == nil || !strings.Contains(gone, "cannot be reached") {
		t.Errorf("%v %s %s", err, gone, failure)
	}
	for _, seen := range []string{out, asJSON, report, gone, string(health.Body), c.Output.Text()} {
		if strings.Contains(seen, password) || strings.Contains(seen, "canary") {
			t.Errorf("the password is in\n%s", seen)
		}
	}
}

func TestAGatewayAloneHasNoCluster(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Global: "admin " + admin})
	if _, failure, err := c.Operate("cluster", "--address", admin); err == nil || !strings.Contains(failure, "this gateway is the only one") {
		t.Errorf("%v %s", err, failure)
	}
	if page := string(h.Client.Get("/metrics", "").Body); strings.Contains(page, "gatehouse_cluster") {
		t.Error("its metrics show a cluster")
	}
}
