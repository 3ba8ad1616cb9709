//go:build linux

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEveryServerHasEveryPosition(t *testing.T) {
	servers := []*server{{role: direct}, {role: proxy}, {role: gateway}}
	places := map[role][]int{}
	for n := range 3 {
		for place, s := range rotate(servers, n) {
			places[s.role] = append(places[s.role], place)
		}
	}
	for which, got := range places {
		slices.Sort(got)
		if !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("%s had the places %v in three rounds", which, got)
		}
	}
	if servers[0].role != direct {
		t.Error("rotating reordered the fleet")
	}
}

func TestRatioFollowsTheMetric(t *testing.T) {
	f := map[role]figures{
		direct:  {CPU: 20, P50: 100, P99: 300},
		proxy:   {CPU: 100, P50: 300, P99: 400, Held: 80},
		gateway: {CPU: 70, P50: 220, P99: 500, Held: 40},
	}
	for m, want := range map[metric]float64{cpuPerOp: 0.7, addedP50: 0.6, tripP99: 1.25, kibPerOne: 0.5} {
		if got := (benchCase{metric: m}).ratioTo(f, proxy); got != want {
			t.Errorf("%s: ratio %v, want %v", m, got, want)
		}
	}
	f[proxy] = figures{P50: 90} // faster than directly: noise
	if got := finite((benchCase{metric: addedP50}).ratioTo(f, proxy)); got != nil {
		t.Errorf("a ratio to less than nothing is %v", *got)
	}
}

func TestCasesAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	paths := map[string]bool{}
	for _, c := range allCases() {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name], paths[c.path] = true, true
		for _, row := range c.rows() {
			if g := row.goal; g != (goal{}) && !g.wellFormed() {
				t.Errorf("%s: stretch %v and bound %v", row.name, g.Stretch, g.Bound)
			}
		}
		if c.check == nil || c.units < 1 || c.unit == "" {
			t.Errorf("%s: no check or no unit", c.name)
		}
		if c.shape != idle && (c.conns < 1 || c.slice <= 0) {
			t.Errorf("%s: %d connections, slices of %s", c.name, c.conns, c.slice)
		}
		if c.metric == addedP50 && c.proxied {
			t.Errorf("%s: an added latency without the direct one", c.name)
		}
	}
	if !paths[chatPath] || !paths[chatPathSecond] || !paths[responsesPath] {
		t.Errorf("the cases leave a route out: %v", paths)
	}
}

func TestOnlySelectsByNameInItsOrder(t *testing.T) {
	got, err := selectCases(options{Only: "held,req-1k"})
	if err != nil || caseNames(got) != "held, req-1k" {
		t.Errorf("selected %s, %v", caseNames(got), err)
	}
	if _, err := selectCases(options{Only: "req-1k,nope"}); err == nil || !strings.Contains(err.Error(), `"nope"`) {
		t.Errorf("an unknown case: %v", err)
	}
	if all, err := selectCases(options{}); err != nil || len(all) != len(allCases()) {
		t.Errorf("no selection gave %d cases, %v", len(all), err)
	}
}

func TestRefusedKeysGoToTheGuardedSite(t *testing.T) {
	sec := newSecrets()
	s := &server{role: proxy, addr: "127.0.0.1:1", guarded: "127.0.0.1:2"}
	cases, err := selectCases(options{Only: "wrong-key,rate-refused,req-1k"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		l, err := c.load(s, sec, codePrompt)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(l.request), sec.wrong); got != c.wrong {
			t.Errorf("%s: wrong key sent: %v", c.name, got)
		}
		if got := strings.Contains(string(l.request), sec.spent); got != c.spent {
			t.Errorf("%s: the key with the used-up rate sent: %v", c.name, got)
		}
		if got := strings.Contains(string(l.request), "Host: "+s.guarded); got != (c.wrong || c.spent) {
			t.Errorf("%s: guarded site asked: %v", c.name, got)
		}
	}
}

// TestMeasureBySlices drives the real measurement against two upstream processes in the roles of a
// proxy and the gateway.
func TestMeasureBySlices(t *testing.T) {
	f := &fleet{}
	for _, which := range []role{direct, proxy, gateway} {
		s := upstreamProcess(t, f)
		s.role = which
		f.servers = append(f.servers, s)
	}
	r := &runner{opts: options{Time: 40 * time.Millisecond, Rate: 200}}
	cases, err := selectCases(options{Only: "rate-1k,sse-64"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c.slice = r.opts.Time / 2
		got, made, err := r.measure(t.Context(), f, f.servers, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range f.servers {
			fig := got[s.role]
			if fig.Calls < 2 || fig.P50 <= 0 || fig.P99 < fig.P50 || fig.PerSecond <= 0 || fig.RSS <= 0 {
				t.Errorf("%s %s: %+v", c.name, s.role, fig)
			}
		}
		if made[gateway] <= got[gateway].Calls {
			t.Errorf("%s: %d calls made, %d of them measured: the warm-up is missing", c.name, made[gateway], got[gateway].Calls)
		}
	}
	f.servers[1].proc.Stop()
	if err := f.alive(); err == nil {
		t.Error("a fleet with a dead server is alive")
	}
	if _, _, err := r.measure(t.Context(), f, f.servers, cases[1]); err == nil || !strings.Contains(err.Error(), string(proxy)) {
		t.Errorf("measuring a dead server: %v", err)
	}
}

func TestRunWithoutAServerFailsAndLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"-quick", "-caddy", filepath.Join(tmp, "no-such-caddy")}, &out, &errs)
	if code != 1 || !strings.Contains(errs.String(), "no-such-caddy") || out.Len() > 0 {
		t.Errorf("status %d, output %q, errors %q", code, out.String(), errs.String())
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestInterruptedRunReportsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &runner{opts: options{Rounds: 1}, progress: io.Discard}
	if err := r.run(ctx); err == nil || !strings.Contains(err.Error(), "interrupted in round 1 of 1") {
		t.Errorf("an interrupted run: %v", err)
	}
	if r.report().measured() {
		t.Error("an empty report would be written")
	}
}

func TestOptionsAreBounded(t *testing.T) {
	for _, args := range [][]string{
		{"-rounds", "0"}, {"-rounds", "51"}, {"-time", "1ms"}, {"-time", "2h"}, {"-rate", "0"},
		{"-held", "100000"}, {"-gomaxprocs", "0"}, {"extra"}, {"-nope"},
	} {
		if o, err := parseOptions(args, io.Discard); err == nil {
			t.Errorf("%v passed as %+v", args, o)
		}
	}
	o, err := parseOptions([]string{"-quick", "-self"}, io.Discard)
	if err != nil || o.Rounds != 1 || !o.Self {
		t.Errorf("-quick -self is %+v, %v", o, err)
	}
}
