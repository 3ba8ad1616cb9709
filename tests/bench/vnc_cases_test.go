//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestVNCCasesAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range allCases() {
		seen[c.name] = true
	}
	for _, c := range allVNCCases() {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		if c.goal != (goal{}) && !c.goal.wellFormed() || c.units <= 0 || c.unit == "" {
			t.Errorf("%s: goal %+v, %v x %q", c.name, c.goal, c.units, c.unit)
		}
		if (c.viewers > 0) == (c.load == resting) {
			t.Errorf("%s: %d viewers", c.name, c.viewers)
		}
	}
}

func TestOnlySelectsAmongBothKinds(t *testing.T) {
	tests := []struct {
		only       string
		self       bool
		model, vnc string
		fails      bool
	}{
		{only: "vnc-idle,held,vnc-bulk", model: "held", vnc: "vnc-idle, vnc-bulk"},
		{only: "vnc-connect", vnc: "vnc-connect"},
		{only: "req-1k", model: "req-1k"},
		{only: "", model: caseNames(allCases()), vnc: vncCaseNames(allVNCCases())},
		{only: "", self: true, model: caseNames(allCases()), vnc: "vnc-bulk, vnc-pointer, vnc-connect, vnc-idle"},
		{only: "vnc-bulk-vencrypt", self: true, fails: true},
		{only: "vnc-bulk,vnc-nope", fails: true},
	}
	for _, tt := range tests {
		cases, vnc, err := chooseCases(options{Only: tt.only, Self: tt.self})
		if (err != nil) != tt.fails {
			t.Errorf("%q: %v", tt.only, err)
		}
		if err == nil && (caseNames(cases) != tt.model || vncCaseNames(vnc) != tt.vnc) {
			t.Errorf("%q selected %q and %q", tt.only, caseNames(cases), vncCaseNames(vnc))
		}
	}
	if _, _, err := chooseCases(options{Only: "nope"}); err == nil || !strings.Contains(err.Error(), "vnc-idle") {
		t.Errorf("an unknown case does not name the VNC cases: %v", err)
	}
	if _, err := parseOptions([]string{"-sessions", "1000"}, io.Discard); err == nil {
		t.Error("more sessions than a gateway lets in")
	}
}

func TestVNCRatioFollowsTheMetric(t *testing.T) {
	f := map[role]figures{
		l4TLS:    {CPU: 100, P50: 20, Held: 70},
		bareCopy: {CPU: 160, P50: 16, Held: 56},
		gateway:  {CPU: 80, P50: 24, Held: 28},
	}
	for m, want := range map[metric][2]float64{cpuPerOp: {0.8, 0.5}, tripP50: {1.2, 1.5}, kibPerOne: {0.4, 0.5}} {
		c := vncCase{metric: m}
		if got := [2]float64{c.ratio(f), c.ratioTo(f, bareCopy)}; got != want {
			t.Errorf("%s: ratios %v, want %v", m, got, want)
		}
	}
}

func TestVNCReportHasTheResults(t *testing.T) {
	_, vnc, err := chooseCases(options{Only: "vnc-bulk,vnc-pointer,vnc-idle"})
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{
		opts: options{Rounds: 5, Time: time.Second}, vnc: vnc,
		rounds: map[string][]round{}, failures: map[string]error{"vnc-idle": errors.New("gateway: refused")},
	}
	for i := range 5 {
		f := map[role]figures{
			l4TLS:    {Calls: 9, CPU: 800, Ticks: 50, P50: 20, PerSecond: 10},
			bareCopy: {Calls: 9, CPU: 1000, Ticks: 50, P50: 19, PerSecond: 10},
			gateway:  {Calls: 9, CPU: 600 + 4*float64(i), Ticks: 10, P50: 30, PerSecond: 10},
		}
		for _, c := range vnc[:2] {
			r.rounds[c.name] = append(r.rounds[c.name], round{Figures: f, Ratio: finite(c.ratio(f))})
		}
	}
	r.vncProof = vncProof{TLS: "TLS 1.3", Desktops: map[role]desktopProof{l4TLS: {Sessions: 3, Echoes: 2, MB: 7.4}}, Sessions: 4, Recorded: 5, Missing: []string{"log: gone"}}
	rep := r.report()
	var b strings.Builder
	if err := rep.writeText(&b); err != nil {
		t.Fatal(err)
	}
	var squeezed strings.Builder
	for line := range strings.Lines(b.String()) {
		squeezed.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	for _, want := range []string{
		"TLS everywhere: TLS 1.3, no resumption\n",
		"desktop behind l4-tls: 3 sessions, 2 pointers answered, 7 MB of frames",
		"traces of the gateways: 4 sessions with 0 MB in their metrics, 5 requests in the activity, 0 log lines\n",
		"not proved: log: gone\n",
		"vnc-bulk CPU us/MB 800.0 1000.0 608.0 0.76 (0.75-0.77) 0.61 (0.60-0.62) - - no goal\n",
		"vnc-pointer p50, us 20.0 19.0 30.0 1.50 (1.50-1.50) 1.58 (1.58-1.58) 1.05 0.95 MISSED\n",
		"vnc-idle KiB/session - - - - - 0.45 0.40 FAILED\n",
		"vnc-idle failed: gateway: refused\n",
		"vnc-bulk: CPU rests on fewer than 30 clock ticks",
		"vnc-bulk gateway 9 608.0 30 0 10 0 0\n",
	} {
		if !strings.Contains(squeezed.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "model calls") || strings.Contains(b.String(), "duties on") || rep.Proof != nil {
		t.Errorf("a run without model calls reports them:\n%s", b.String())
	}
	if !rep.measured() || !rep.failed() {
		t.Error("the VNC cases do not count")
	}
}

func TestVNCCaddyfiles(t *testing.T) {
	s := vncSite{site: testSite, vncPort: 5900}
	shared, _, _ := strings.Cut(globalOptions(testSite, ""), "\n}\n")
	for name, text := range map[string]string{"l4-tls": l4Caddyfile(s), "gateway": gatewayVNCCaddyfile(s)} {
		if strings.Count(text, "{") != strings.Count(text, "}") {
			t.Errorf("%s: the brackets do not match:\n%s", name, text)
		}
		if sites, binds := strings.Count(text, "http://:")+strings.Count(text, "https://"), strings.Count(text, "bind 127.0.0.1"); sites != binds {
			t.Errorf("%s: %d sites, %d of them on the loopback", name, sites, binds)
		}
		if !strings.HasPrefix(text, shared) || !strings.Contains(text, "127.0.0.1:5900 {\n\t\t\troute {") || !strings.Contains(text, `tls "/c" "/k"`) {
			t.Errorf("%s lacks what all share:\n%s", name, text)
		}
		if !strings.Contains(text, testSite.upstream) {
			t.Errorf("%s does not know its desktop:\n%s", name, text)
		}
	}
}

// The API and the VNC listener of the gateway need a port each.
func TestTheVNCGatewayServesItsAPIBesideTheListener(t *testing.T) {
	s := vncSite{site: testSite, vncPort: 5900}
	text := gatewayVNCCaddyfile(s)
	for what, line := range map[string]string{
		"API":      fmt.Sprintf("\nhttp://:%d {", testSite.port),
		"listener": "\t\t127.0.0.1:5900 {",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the %s is not at its port, want %q in:\n%s", what, line, text)
		}
	}
}
