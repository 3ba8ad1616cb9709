package operator

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/clusterimport"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// What a gateway has spent, its keys, workstations and calls are the cluster's after the move, to the
// token.
func TestASingleGatewayMovesIntoACluster(t *testing.T) {
	engine := enginetest.Redis(t)
	t.Setenv("DATABASE", enginetest.StartPostgres(t).Database(t))
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	alone := harness.Setup{
		Keys: managerKeys + harness.Key("limited", "budget 1000000 tokens/total"), Options: runtimeBlock,
		VNC: "register_networks 10.0.0.0/8", NoLayer4: true, Global: "admin " + admin,
	}
	alone.Keys = strings.Replace(alone.Keys, "{env.KEY_LIMITED}", "gk-test-limited-5f2b8c71d0e94a36", 1)
	shared := alone
	shared.Options += "cluster prod {\nvalkey redis://127.0.0.1:" + strconv.Itoa(engine.Port()) + "\npostgres {env.DATABASE}\nnode gw-1\n}\n"

	c := h.Run(alone)
	file := h.Dir + "/Caddyfile-" + strconv.Itoa(h.Ports.HTTP)
	call := func() {
		t.Helper()
		r := h.Client.Request(harness.ChatV1, "", harness.Hello("fake/echo"))
		r.Header.Set("Authorization", "Bearer gk-test-limited-5f2b8c71d0e94a36")
		if a := h.Client.Send(r); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	call()
	made := makeKey(h, "")
	if a := h.Client.Do("PUT", "/v1/workstations/two", "manage", `{"address":"10.0.0.7:5901"}`); a.Status >= 300 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	spent := func(c *harness.Process) string {
		t.Helper()
		out, failure, err := c.Operate("budget", "--json", "--address", admin)
		var budgets []struct {
			Subject string
			Spent   json.Number
		}
		if err := errors.Join(err, json.Unmarshal([]byte(out), &budgets)); err != nil || len(budgets) != 1 || budgets[0].Subject != "key:limited" {
			t.Fatalf("%v %s %s", err, out, failure)
		}
		return budgets[0].Spent.String()
	}
	before := spent(c)
	if before == "0" {
		t.Fatal("nothing is spent")
	}
	move := func(more ...string) (string, string, error) {
		return c.Operate(append([]string{"cluster", "import", "--config", file}, more...)...)
	}
	write := func(s harness.Setup) {
		t.Helper()
		if err := os.WriteFile(file, []byte(h.Caddyfile(s)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(shared)
	if _, failure, err := move(); err == nil {
		t.Errorf("the database of a gateway that runs was moved: %s", failure)
	}
	c.Signal(os.Interrupt)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--dry-run", "--json"}, {"--json"}} {
		out, failure, err := move(args...)
		var report clusterimport.Report
		if err := errors.Join(err, json.Unmarshal([]byte(out), &report)); err != nil || len(report) != 5 {
			t.Fatalf("%v: %v %s %s", args, err, out, failure)
		}
		for i, want := range []clusterimport.Part{{Rows: 1, Sum: before}, {Rows: 1, Sum: "0"}, {Rows: 1, Sum: "0"}, {Sum: "0"}, {Rows: 3, Sum: "0"}} {
			if p := report[i]; p.Rows != want.Rows || p.Sum != want.Sum || p.Before != 0 || p.After != p.Rows {
				t.Errorf("%v: %+v, want %+v", args, p, want)
			}
		}
	}
	if _, failure, err := move(); err == nil || !strings.Contains(failure, "the cluster has rows already") {
		t.Errorf("again: %v %s", err, failure)
	}
	if _, failure, err := move("--merge"); err == nil || !strings.Contains(failure, "the same data was moved before") {
		t.Errorf("again, merged: %v %s", err, failure)
	}

	c = h.Run(shared)
	if now := spent(c); now != before {
		t.Errorf("%s tokens are spent in the cluster, %s were", now, before)
	}
	wantStatus(h, made, 200)
	if list, failure, err := c.Operate("workstation", "list", "--address", admin); err != nil || !strings.Contains(list, "10.0.0.7:5901") {
		t.Errorf("%v %s %s", err, list, failure)
	}
	if _, failure, err := move("--merge"); err == nil || !strings.Contains(failure, "gateways of the cluster run") && !strings.Contains(failure, "in use by another gatehouse") {
		t.Errorf("while the cluster runs: %v %s", err, failure)
	}
}
