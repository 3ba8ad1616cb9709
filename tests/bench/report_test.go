//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reported is a run of two cases: one measured in five rounds, one failed.
func reported(t *testing.T) *runner {
	t.Helper()
	cases, err := selectCases(options{Only: "req-1k,rate-1k,held"})
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{
		opts:     options{Rounds: 5, Time: time.Second, Rate: 1000, GOGC: "100", MemLimit: "1GiB", GOMAXPROCS: 2},
		cases:    cases,
		started:  time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		rounds:   map[string][]round{},
		failures: map[string]error{"held": errors.New("gateway: status 500")},
	}
	for i := range 5 {
		step := float64(i)
		f := map[role]figures{
			direct:  {Calls: 100, CPU: 20, Ticks: 50, P50: 100, P99: 200, PerSecond: 1000, RSS: 14, Peak: 15},
			proxy:   {Calls: 100, CPU: 100, Ticks: 50, P50: 300, P99: 900, PerSecond: 500, RSS: 50, Peak: 60},
			gateway: {Calls: 100, CPU: 66 + step, Ticks: 10, P50: 90, P99: 800, PerSecond: 600, RSS: 51, Peak: 61},
		}
		for _, c := range append(cases[:1:1], cases[1].rows()...) {
			r.rounds[c.name] = append(r.rounds[c.name], round{Figures: f, Ratio: finite(c.ratioTo(f, proxy))})
		}
	}
	return r
}

func TestTextReportHasTheResults(t *testing.T) {
	r := reported(t)
	r.proof = proof{Calls: 1200, Refused: 300, Limited: 70, Turned: 69, LogLines: 1210, Recorded: 1200, Tokens: 9, Series: 4, Missing: []string{"metrics: status 404"}}
	var b strings.Builder
	if err := r.report().writeText(&b); err != nil {
		t.Fatal(err)
	}
	var squeezed strings.Builder
	for line := range strings.Lines(b.String()) {
		squeezed.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	for _, want := range []string{
		"5 rounds of 1s a measurement",
		"GOMAXPROCS=2 GOGC=100 GOMEMLIMIT=1GiB",
		"of 1200 calls, 300 refused for their key and 70 for their rate, 1210 log lines; 1200 requests with 9 prompt tokens and 69 refused for their rate in the activity; 4 metric series",
		"off at the gateway, on at gateway-on: " + dutiesOff,
		"not proved: metrics: status 404",
		"req-1k CPU us/request 20.0 100.0 68.0 0.68 (0.66-0.70) 1.08 0.90 holds, stretch too\n",
		"rate-1k p50 over direct, us 0 200 -10 - - - no goal\n",
		"rate-1k-p99 p99, us 200 900 800 0.89 (0.89-0.89) - - no goal\n",
		"held KiB/stream - - - - 0.85 0.70 FAILED\n",
		"held failed: gateway: status 500\n",
		"rate-1k: reverse_proxy reached 500 of 1000 calls/s",
		"req-1k: CPU rests on fewer than 30 clock ticks",
		"req-1k gateway 100 68.0 90 800 600 51 61\n",
	} {
		if !strings.Contains(squeezed.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}

func TestSelfCheckClaimsNoDutiesAndNoVerdict(t *testing.T) {
	r := reported(t)
	r.opts.Self = true
	var b strings.Builder
	if err := r.report().writeText(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "-32 % off") || strings.Contains(text, "duties on") || strings.Contains(text, "stretch too") {
		t.Errorf("the self-check reports\n%s", text)
	}
}

func TestJSONReportHoldsEveryRound(t *testing.T) {
	rep := reported(t).report()
	path := filepath.Join(t.TempDir(), "report.json")
	if err := writeJSON(path, rep); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Cases) != 4 || len(got.Cases[0].Rounds) != 5 || got.Cases[0].Ratio.Median != 0.68 {
		t.Errorf("read back: %+v", got.Cases)
	}
	if got.Cases[1].Ratio != nil || got.Cases[1].Rounds[0].Ratio != nil {
		t.Error("a ratio that means nothing is a number")
	}
	if got.Cases[3].Error == "" || !got.failed() {
		t.Error("the failed case does not show")
	}
	if err := writeJSON("", rep); err != nil {
		t.Errorf("no file asked for: %v", err)
	}
}

func TestMachineIsNamed(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	m := thisMachine(self)
	if m.CPUs < 1 || m.Kernel == "unknown" || m.ServerGo != m.Go || m.TickMS < 1 {
		t.Errorf("machine %+v", m)
	}
	if got := thisMachine(filepath.Join(t.TempDir(), "none")).ServerGo; got != "unknown" {
		t.Errorf("a missing binary was built with %q", got)
	}
}
