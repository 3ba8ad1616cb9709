//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOnlyTheChosenDutiesAreConfigured(t *testing.T) {
	marks := map[duties][]string{
		limitDuties:  {"rate 100M/min", "tokens/min", "queue", "max_messages", "max_tools", "max_output_tokens", "on_disconnect drain"},
		budgetDuties: {"usd/total", "tokens/total soft", "catalog", "tenant bench {"},
		guardDuties:  {"guardrail screen {", "guardrails screen", "deny secrets", "redact email", "redact card", "on both"},
	}
	for d := range everyDuty + 1 {
		text := gatewayCaddyfile(testSite, d)
		for duty, words := range marks {
			for _, word := range words {
				if got := strings.Contains(text, word); got != d.has(duty) {
					t.Errorf("with %q on: %q is there: %v", d, word, got)
				}
			}
		}
	}
}

func TestDutiesAreNamed(t *testing.T) {
	for d, want := range map[duties]string{0: "", limitDuties: "limits", budgetDuties | guardDuties: "budgets and guardrails", everyDuty: "everything"} {
		if d.String() != want {
			t.Errorf("%b is %q, want %q", d, d, want)
		}
	}
}

func TestCatalogPricesEveryModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.json")
	if err := writeCatalog(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Models []struct {
			ID    string
			Price map[string]json.Number
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range got.Models {
		names = append(names, strings.TrimPrefix(m.ID, providerPrefix))
		if m.Price["prompt"] == "" || m.Price["completion"] == "" {
			t.Errorf("%s costs %v", m.ID, m.Price)
		}
	}
	if !slices.Equal(names, upstreamModels) {
		t.Errorf("prices for %v, the upstream has %v", names, upstreamModels)
	}
}

func TestCasesWithDutiesHaveTheGatewayWithoutThemBeside(t *testing.T) {
	f := &fleet{
		servers: []*server{{role: direct}, {role: proxy}, {role: gateway}},
		on:      map[duties]*server{everyDuty: {role: gatewayOn, duties: everyDuty}},
	}
	cases, err := selectCases(options{Only: "req-1k,req-1k-on,rate-1k-on"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]role{"req-1k": {direct, proxy, gateway}, "req-1k-on": {proxy, gateway, gatewayOn}, "rate-1k-on": {direct, proxy, gateway, gatewayOn}}
	for _, c := range cases {
		servers, err := f.serversOf(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var got []role
		for _, s := range servers {
			got = append(got, s.role)
		}
		if !slices.Equal(got, want[c.name]) {
			t.Errorf("%s compares %v, want %v", c.name, got, want[c.name])
		}
	}
	if len(f.servers) != 3 {
		t.Error("choosing servers changed the fleet")
	}
}

func TestRatiosWithDutiesOn(t *testing.T) {
	f := map[role]figures{proxy: {CPU: 100}, gateway: {CPU: 80}, gatewayOn: {CPU: 120}}
	on, off := benchCase{metric: cpuPerOp, duties: everyDuty}, benchCase{metric: cpuPerOp}
	if got := [3]float64{on.ratioTo(f, proxy), on.ratioTo(f, gateway), off.ratioTo(f, proxy)}; got != [3]float64{1.2, 1.5, 0.8} {
		t.Errorf("ratios %v", got)
	}
}

func TestCallsAreCountedByTheirDuties(t *testing.T) {
	got := made{duties: map[duties]int{}}
	got.count(benchCase{}, map[role]int{gateway: 1, proxy: 100})
	got.count(benchCase{wrong: true}, map[role]int{gateway: 10})
	got.count(benchCase{spent: true}, map[role]int{gateway: 20})
	got.count(benchCase{duties: everyDuty}, map[role]int{gateway: 2, gatewayOn: 30})
	if got.calls != 3 || got.refused != 10 || got.limited != 20 || got.duties[everyDuty] != 30 {
		t.Errorf("counted %+v", got)
	}
}

func TestReportOfDutiesHasBothRatios(t *testing.T) {
	cases, err := selectCases(options{Only: "req-1k-on,req-1k-limits"})
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{cases: cases, rounds: map[string][]round{}, opts: options{Rounds: 1, Rate: 1}}
	f := map[role]figures{
		proxy: {Calls: 9, CPU: 100, Ticks: 90}, gateway: {Calls: 9, CPU: 80, Ticks: 90}, gatewayOn: {Calls: 9, CPU: 120, Ticks: 90},
	}
	for _, c := range cases {
		r.rounds[c.name] = []round{{Figures: f, Ratio: finite(c.ratioTo(f, proxy)), ToOff: finite(c.ratioTo(f, gateway))}}
	}
	r.proof.Duties = []dutyProof{{Duties: "limits", Calls: 5, Rows: 5, Cap: 7, Probed: []string{"one", "two"}, Missing: []string{"three: no"}}}
	var b strings.Builder
	if err := r.report().writeText(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"req-1k-on everything CPU us/request 100.0 80.0 120.0 1.20 (1.20-1.20) 1.50 (1.50-1.50) 1.80 1.40 holds, stretch too",
		"req-1k-limits limits CPU us/request 100.0 80.0 120.0 1.20 (1.20-1.20) 1.50 (1.50-1.50) - - no goal",
		"req-1k-on gateway-on 9 120.0",
		"with limits on: of 5 calls 5 rows; output bounded by 7 probed: one; two not proved: three: no",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}
