package main

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// known are measurements of parts whose costs are known.
func known() *measured {
	m := &measured{Figures: map[string]float64{}}
	at := map[string]string{"gateway1": "0", enginePart: "1", postgresPart: "1", providerPart: "1", clientPart: "1"}
	add := func(kind, mix string, gateways int, calls, messages, commits float64, cpu map[string]float64) {
		m.Runs = append(m.Runs, run{Kind: kind, Mix: mix, Gateways: gateways, Alone: gateways == 0, Cores: at, Conns: 11, Seconds: 10, Calls: calls, CPU: cpu, Messages: messages, Commits: commits})
	}
	add("idle", "", 1, 0, 0, 0, map[string]float64{gatewayPart: 0.1, enginePart: 0.01, postgresPart: 0.02})
	for _, mix := range []string{limitsMix, freeMix} {
		add("busy", mix, 0, 1e4, 0, 0, map[string]float64{providerPart: 0.3, clientPart: 0.2})
		add("quiet", mix, 1, 2000, 6000, 200, map[string]float64{gatewayPart: 0.9, enginePart: 0.2, postgresPart: 0.02 + 200*1e-3 + 2000*1e-5})
		add("single", mix, 1, 1e4, 2e4, 0, map[string]float64{gatewayPart: 0.1 + 3, enginePart: 0.01 + 1, providerPart: 0.5, clientPart: 0.4})
		add("busy", mix, 1, 1e4, 2e4, 200, map[string]float64{gatewayPart: 0.1 + 1, enginePart: 0.01 + 0.5, postgresPart: 0.02 + 200*1e-3 + 1e4*1e-5})
	}
	return m
}

func TestCostsAreFoundInMeasurements(t *testing.T) {
	k, err := known().costs(limitsMix, false)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "a call alone", k.gateway.of(1), 300e-6, 1e-6)
	near(t, "one of eleven", k.gateway.of(11), 100e-6, 1e-6)
	near(t, "the provider alone", k.provider.of(1), 50e-6, 1e-6)
	near(t, "the client among many", k.client.of(11), 20e-6, 1e-6)
	near(t, "a message alone", k.message.of(1), 50e-6, 1e-6)
	near(t, "a message among many", k.message.of(11), 25e-6, 1e-6)
	near(t, "a transaction", k.commit, 1e-3, 1e-6)
	near(t, "a row", k.row, 1e-5, 1e-6)
	if k.messages != 2 {
		t.Errorf("%d messages before a call", k.messages)
	}
	if _, err := known().costs("others", false); err == nil {
		t.Error("there are costs of what was not measured")
	}
}

// point is what the simulation says of a placement, as if it had been measured.
func point(t *testing.T, m *measured) run {
	t.Helper()
	k, err := m.costs(limitsMix, false)
	if err != nil {
		t.Fatal(err)
	}
	r := run{Kind: "point", Mix: limitsMix, Gateways: 1, Cores: m.Runs[0].Cores, Conns: 24, Seconds: 10, CPU: map[string]float64{}}
	r.Calls = 10 * simulate(plan{gateways: 1, cores: r.Cores, conns: r.Conns, threads: 1, seconds: pointSeconds}, k).rate
	return r
}

func TestNothingIsSaidUnlessThePointsAreReproduced(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*run)
		said   string // of the error
	}{
		{"as simulated", func(*run) {}, ""},
		{"14 % more", func(r *run) { r.Calls *= 1.14 }, ""},
		{"20 % more", func(r *run) { r.Calls *= 1.2 }, "measured"},
		{"20 % less", func(r *run) { r.Calls *= 0.8 }, "measured"},
		{"beside another program", func(r *run) { r.Other = 0.5 }, "other programs used 0.50 cores"},
	} {
		m := known()
		r := point(t, m)
		c.change(&r)
		m.Runs = append(m.Runs, r)
		text, err := pointsTable(m)
		if !strings.Contains(text, "| 1 | "+limitsMix) {
			t.Errorf("%s: the table is %s", c.name, text)
		}
		if err == nil && c.said != "" || err != nil && (c.said == "" || !strings.Contains(err.Error(), c.said)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.said == "" && c.name != "as simulated" {
			continue
		}
		blocks, refused := report(m)
		for _, b := range blocks {
			if silent := strings.HasPrefix(b.text, "Nothing is said"); silent != (refused != nil && b.computed) {
				t.Errorf("%s: %s: %s", c.name, b.name, b.text)
			}
		}
	}
	if _, err := pointsTable(known()); err == nil {
		t.Error("no point is needed")
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
	near(t, "calls", all[0].Calls, a.Calls*1.5, 1e-9)
	near(t, "seconds", all[0].Seconds, 20, 1e-9)
}

const page = "../../../docs/scale.md"

// The page has what this program writes: `make scale`, or without measuring
// `cd tests/tools && go run ./scale -docs ../../docs/scale.md`.
func TestThePageHasTheTablesOfTheStoredMeasurements(t *testing.T) {
	m, err := load("measured.json")
	if err != nil {
		t.Fatal(err)
	}
	blocks, _ := report(m)
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
