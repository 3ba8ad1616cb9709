package tests

import (
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/clusterimport"
	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
)

// What a gateway has spent, its keys, workstations and calls are the cluster's after the move, to the
// token.
func TestASingleGatewayMovesIntoACluster(t *testing.T) {
	engine := enginetest.Redis(t)
	t.Setenv("DATABASE", enginetest.StartPostgres(t).Database(t))
	h := vacant(t)
	admin := "unix//" + h.dir + "/admin"
	alone := setup{
		keys: managerKeys + keyBlock("limited", "budget 1000000 tokens/total"), options: runtimeBlock,
		vnc: "register_networks 10.0.0.0/8", noLayer4: true, global: "admin " + admin,
	}
	alone.keys = strings.Replace(alone.keys, "{env.KEY_LIMITED}", "gk-test-limited-5f2b8c71d0e94a36", 1)
	shared := alone
	shared.options += "cluster prod {\nvalkey redis://127.0.0.1:" + strconv.Itoa(engine.Port()) + "\npostgres {env.DATABASE}\nnode gw-1\n}\n"

	c := h.run(alone)
	file := h.dir + "/Caddyfile-" + strconv.Itoa(h.ports[0])
	call := func() {
		t.Helper()
		r := h.request(chatV1, "", chatBody("fake/echo"))
		r.Header.Set("Authorization", "Bearer gk-test-limited-5f2b8c71d0e94a36")
		if a := h.send(r); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	call()
	made := h.makeKey("")
	if a := h.do("PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901"}`); a.status >= 300 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	spent := func(c *child) string {
		t.Helper()
		out, failure, err := c.operate("budget", "--json", "--address", admin)
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
		return c.operate(append([]string{"cluster", "import", "--config", file}, more...)...)
	}
	write := func(s setup) {
		t.Helper()
		if err := os.WriteFile(file, []byte(h.caddyfile(s)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(shared)
	if _, failure, err := move(); err == nil {
		t.Errorf("the database of a gateway that runs was moved: %s", failure)
	}
	c.signal(os.Interrupt)
	if err := c.wait(); err != nil {
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

	c = h.run(shared)
	if now := spent(c); now != before {
		t.Errorf("%s tokens are spent in the cluster, %s were", now, before)
	}
	h.wantStatus(made, 200)
	if list, failure, err := c.operate("workstation", "list", "--address", admin); err != nil || !strings.Contains(list, "10.0.0.7:5901") {
		t.Errorf("%v %s %s", err, list, failure)
	}
	if _, failure, err := move("--merge"); err == nil || !strings.Contains(failure, "gateways of the cluster run") && !strings.Contains(failure, "in use by another gatehouse") {
		t.Errorf("while the cluster runs: %v %s", err, failure)
	}
}
