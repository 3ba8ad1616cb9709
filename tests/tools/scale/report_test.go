package main

import (
	"maps"
	"math"
	"os"
	"strings"
	"testing"
)

const limitsMix, freeMix = "1 KB, limits", "1 KB"

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*math.Abs(want) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// known are measurements of parts whose costs are known: of many calls, one takes 100 us of the
// gateway, 50 of the engine, 20 of PostgreSQL, 30 of the provider and 20 of the client.
func known() *measured {
	m := &measured{Figures: map[string]float64{}}
	at := map[string]string{"gateway1": "0", enginePart: "1", postgresPart: "1", providerPart: "1", clientPart: "1"}
	add := func(kind, mix string, gateways int, calls float64, cpu map[string]float64) {
		m.Runs = append(m.Runs, run{Kind: kind, Mix: mix, Gateways: gateways, Alone: gateways == 0, Cores: at, Seconds: 10, Calls: calls, CPU: cpu})
	}
	for _, n := range []int{1, 3} {
		add(idleRun, "", n, 0, map[string]float64{gatewayPart: 0.1 * float64(n), enginePart: 0.01, postgresPart: 0.02})
	}
	for _, mix := range []string{limitsMix, freeMix} {
		add(busyRun, mix, 0, 1e4, map[string]float64{providerPart: 0.3, clientPart: 0.2})
		add(singleRun, mix, 1, 1e4, map[string]float64{gatewayPart: 3, enginePart: 1, postgresPart: 0.4, providerPart: 0.5, clientPart: 0.4})
		add(busyRun, mix, 1, 1e4, map[string]float64{gatewayPart: 1, enginePart: 0.5, postgresPart: 0.2})
	}
	return m
}

// point is a run at saturation as the law says it.
func point(t *testing.T, m *measured) run {
	t.Helper()
	k, err := m.costs(busyRun, limitsMix, false)
	if err != nil {
		t.Fatal(err)
	}
	r := run{Kind: pointRun, Mix: limitsMix, Gateways: 1, Cores: m.Runs[0].Cores, Seconds: 10, CPU: map[string]float64{}}
	rate, _ := k.law(r)
	r.Calls = 10 * rate
	return r
}

func TestCostsAreFoundInMeasurements(t *testing.T) {
	m := known()
	for _, c := range []struct {
		kind, part string
		us         float64
	}{
		{singleRun, gatewayPart, 300}, {busyRun, gatewayPart, 100}, {singleRun, providerPart, 50}, {busyRun, clientPart, 20},
		{singleRun, enginePart, 100}, {busyRun, enginePart, 50}, {busyRun, postgresPart, 20},
	} {
		k, err := m.costs(c.kind, limitsMix, false)
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.kind+" "+c.part, k[c.part]*1e6, c.us)
	}
	if _, err := m.costs(busyRun, "others", false); err == nil {
		t.Error("there are costs of what was not measured")
	}
	idle, err := m.idle(3)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "three gateways without calls", idle[gatewayPart], 0.03)
}

func TestTheBusiestCoreIsTheWall(t *testing.T) {
	k, err := known().costs(busyRun, limitsMix, false)
	if err != nil {
		t.Fatal(err)
	}
	at := func(gateways, engine, rest string) map[string]string {
		return map[string]string{"gateway1": gateways, "gateway2": gateways, "gateway3": gateways,
			enginePart: engine, postgresPart: rest, providerPart: rest, clientPart: rest}
	}
	for _, c := range []struct {
		name     string
		gateways int
		cores    map[string]string
		us       float64 // of the wall, a call
		wall     string
	}{
		{"parts on the other core need more", 1, at("0", "1", "1"), 120, enginePart},
		{"the gateway and the engine share a core", 1, at("0", "0", "1"), 150, gatewayPart},
		{"the gateway has the least room", 1, at("0", "2", "1"), 100, gatewayPart},
		{"three gateways on a core are one", 3, at("0", "2", "1"), 100, gatewayPart},
		{"all share two cores", 3, at("0-1", "0-1", "0-1"), 110, gatewayPart},
	} {
		rate, wall := k.law(run{Gateways: c.gateways, Cores: c.cores})
		near(t, c.name, 1e6/rate, c.us)
		if wall != c.wall {
			t.Errorf("%s: the wall is %s, want %s", c.name, wall, c.wall)
		}
	}
}

func TestTheReportFailsWhereTheLawIsOff(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*run)
		said   string // of the error
	}{
		{"as the law has it", func(*run) {}, ""},
		{"14 % more", func(r *run) { r.Calls *= 1.14 }, ""},
		{"20 % more", func(r *run) { r.Calls *= 1.2 }, "measured"},
		{"20 % less", func(r *run) { r.Calls *= 0.8 }, "measured"},
		{"beside another program", func(r *run) { r.Other = 0.5 }, "other programs used 0.50 cores"},
	} {
		m := known()
		r := point(t, m)
		c.change(&r)
		m.Runs = append(m.Runs, r)
		blocks, err := report(m)
		if !strings.Contains(blocks[0].text, "| 1 | "+limitsMix) {
			t.Errorf("%s: the table is %s", c.name, blocks[0].text)
		}
		if err == nil && c.said != "" || err != nil && (c.said == "" || !strings.Contains(err.Error(), c.said)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, _, err := pointsTable(known()); err == nil {
		t.Error("no point is needed")
	}
}

func TestThePageSaysHowFarTheLawIsOff(t *testing.T) {
	off := errorsOfLaw{1: {0.02, -0.07}, 3: {0.26, 0.44}}
	if got, want := off.String(), "With one gateway the law is at most 7 % off. With three on the cores of one it is +26 to +44 % off.\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPointsOfTheSamePlacementAreOne(t *testing.T) {
	m := known()
	a, b := point(t, m), point(t, m)
	other := point(t, m)
	other.Cores = maps.Clone(other.Cores)
	other.Cores[enginePart] = "0"
	b.Calls /= 2
	m.Runs = append(m.Runs, a, b, other)
	all := m.points()
	if len(all) != 2 {
		t.Fatalf("%d points", len(all))
	}
	near(t, "calls", all[0].Calls, a.Calls*1.5)
	near(t, "seconds", all[0].Seconds, 20)
}

func TestSizesAndCountsAreRounded(t *testing.T) {
	for got, want := range map[string]string{
		size(1.5e12): "1.5 TB", size(437e9): "440 GB", size(512): "512 bytes", count(271_234): "270,000", count(1): "1", count(99.6): "100", count(9996): "10,000",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

const page = "../../../docs/scale.md"

// The page has what this program writes: `make scale`, or without measuring
// `cd tests/tools && go run ./scale -docs ../../docs/scale.md`.
func TestThePageHasTheTablesOfTheStoredMeasurements(t *testing.T) {
	m, err := load("measured.json")
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := report(m)
	if err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fill(string(text), blocks)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Errorf("%s has other tables", page)
	}
}
