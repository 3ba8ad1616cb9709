package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

const (
	// tolerance is how far the simulation may be from what was measured.
	tolerance = 0.15
	// quiet is how many cores other programs may have used beside a point: more, and it is no measurement.
	quiet = 0.10
	// useful is how much of its cores a part should use: the rest is for peaks.
	useful = 2.0 / 3

	hostCores     = 4      // of a gateway
	postgresCores = 8      // of its host
	roundTrip     = 0.0002 // seconds, between hosts of a network
	pointSeconds  = 2.0
)

// report are the tables, and an error if the points are not reproduced.
func report(m *measured) (blocks []block, refused error) {
	points, err := pointsTable(m)
	costs, failed := costsTable(m)
	refused = errors.Join(err, failed)
	blocks = []block{{"points", points, false}, {"costs", costs, false}, {"machine", machineLine(m), false}}
	for _, one := range []struct {
		name  string
		table func(*measured) (string, error)
	}{{"carries", carriesTable}, {"take", takeTable}, {"without-calls", idleTable}} {
		text := "Nothing is said here: the simulation did not reproduce what was measured.\n"
		if refused == nil {
			if text, err = one.table(m); err != nil {
				text, refused = err.Error()+"\n", err
			}
		}
		blocks = append(blocks, block{one.name, text, true})
	}
	return blocks, refused
}

func machineLine(m *measured) string {
	return fmt.Sprintf("Measured on %s: %s, %d cores, Linux %s, %s; %s; %s.\n", m.Date, m.Processor, m.Machine.CPUs, m.Machine.Kernel, m.Machine.ServerGo, m.Engine, m.Postgres)
}

// table makes a table of Markdown.
func table(head string, rows [][]string) string {
	columns := strings.Count(head, "|") - 1
	var b strings.Builder
	fmt.Fprintln(&b, head)
	fmt.Fprintln(&b, "|"+strings.Repeat("---|", columns))
	for _, row := range rows {
		fmt.Fprintln(&b, "| "+strings.Join(row, " | ")+" |")
	}
	return b.String()
}

// pointsTable compares what was measured at saturation with the simulation.
func pointsTable(m *measured) (string, error) {
	var rows [][]string
	var refused error
	points := m.points()
	if len(points) == 0 {
		refused = errors.New("nothing was measured at saturation")
	}
	for _, r := range points {
		k, err := m.costs(r.Mix, r.Alone)
		if err != nil {
			return "", err
		}
		o := simulate(plan{gateways: r.Gateways, alone: r.Alone, cores: r.Cores, conns: r.Conns, threads: 1, seconds: pointSeconds}, k)
		got := r.Calls / r.Seconds
		off := o.rate/got - 1
		gateways := strconv.Itoa(r.Gateways)
		if r.Alone {
			gateways += " alone"
		}
		switch {
		case math.Abs(off) > tolerance:
			refused = errors.Join(refused, fmt.Errorf("%s gateways, %s, %s: measured %.0f calls a second, simulated %.0f", gateways, r.Mix, layout(r), got, o.rate))
		case r.Other > quiet:
			refused = errors.Join(refused, fmt.Errorf("%s gateways, %s, %s: other programs used %.2f cores", gateways, r.Mix, layout(r), r.Other))
		}
		rows = append(rows, []string{gateways, r.Mix, layout(r), count(got), count(o.rate), fmt.Sprintf("%+.0f %%", 100*off), o.wall, ms(r.P50 / 1e6), ms(o.p50)})
	}
	return table("| gateways | calls | on core 0; on core 1 | measured, calls/s | simulated | error | wall | p50 | simulated |", rows), refused
}

// layout says what runs where.
func layout(r run) string {
	on := map[string][]string{}
	for i := range r.Gateways {
		list := r.Cores[gatewayPart+strconv.Itoa(i+1)]
		on[list] = append(on[list], "")
	}
	text := func(list string) string {
		var all []string
		if n := len(on[list]); n == 1 {
			all = append(all, "a gateway")
		} else if n > 1 {
			all = append(all, fmt.Sprintf("%d gateways", n))
		}
		for _, part := range parts[1:] {
			if r.Cores[part] == list && (!r.Alone || part == providerPart || part == clientPart) {
				all = append(all, part)
			}
		}
		return strings.Join(all, ", ")
	}
	if cores(r.Cores[clientPart]) > 1 {
		return "all on both"
	}
	return text("0") + "; " + text("1")
}

func costsTable(m *measured) (string, error) {
	var rows [][]string
	us := func(seconds float64) string { return fmt.Sprintf("%.0f us", seconds*1e6) }
	for _, mix := range m.mixes(false) {
		k, err := m.costs(mix, false)
		if err != nil {
			return "", err
		}
		message := "-"
		if k.messages > 0 {
			message = us(k.message.of(1)) + ", " + us(k.message.among)
		}
		alone := "-"
		if a, err := m.costs(mix, true); err == nil {
			alone = us(a.gateway.of(1)) + ", " + us(a.gateway.among)
		}
		rows = append(rows, []string{mix, alone, us(k.gateway.of(1)) + ", " + us(k.gateway.among), message, us(k.commit) + "; " + us(k.row), fmt.Sprintf("%.0f", k.written)})
	}
	return table("| a call | gateway alone | gateway of a cluster | engine, a message | PostgreSQL: a transaction; a row | bytes of its log, a row |", rows), nil
}

// mixes are those of which costs were measured.
func (m *measured) mixes(alone bool) (all []string) {
	seen := map[string]bool{}
	for _, r := range m.Runs {
		if r.Kind == "busy" && r.Alone == alone && !seen[r.Mix] {
			seen[r.Mix] = true
			all = append(all, r.Mix)
		}
	}
	return all
}

// hosts are gateways, an engine and PostgreSQL on hosts of their own; clients and providers are elsewhere.
func (m *measured) hosts(gateways int, alone bool) plan {
	p := plan{gateways: gateways, alone: alone, trip: roundTrip, sync: m.Figures["ms a sync of the disk"] / 1e3, cores: map[string]string{
		enginePart: "engine:0", postgresPart: fmt.Sprintf("postgres:0-%d", postgresCores-1), providerPart: elsewhere, clientPart: elsewhere,
	}}
	for i := range gateways {
		name := gatewayPart + strconv.Itoa(i+1)
		p.cores[name] = fmt.Sprintf("%s:0-%d", name, hostCores-1)
	}
	return p
}

// atRate simulates calls that arrive at a rate, as long as is needed for a steady figure.
func atRate(p plan, k costs, rate float64) outcome {
	const calls, least, most = 20_000, 0.3, 10
	p.rate, p.seconds = rate, min(max(calls/rate, least), most)
	return simulate(p, k)
}

// carried is the rate at which the part that is used most is used as much as is useful.
func carried(p plan, k costs) outcome {
	most := hostCores * float64(p.gateways) / k.gateway.of(1)
	if !p.alone {
		most = min(most, 1/(k.message.of(1)*float64(k.messages+1)), postgresCores/k.row)
	}
	o := atRate(p, k, useful*most)
	for range 3 {
		o = atRate(p, k, o.rate*useful/o.used)
	}
	return o
}

// carriesTable is what one gateway, three and fifty carry.
func carriesTable(m *measured) (string, error) {
	var rows [][]string
	for _, mix := range m.mixes(false) {
		for _, n := range []struct {
			gateways int
			alone    bool
			name     string
		}{{1, true, "1, without engines"}, {1, false, "1"}, {3, false, "3"}, {50, false, "50"}} {
			k, err := m.costs(mix, n.alone)
			if err != nil && n.alone {
				continue
			} else if err != nil {
				return "", err
			}
			o := carried(m.hosts(n.gateways, n.alone), k)
			engine, book, log := "-", "-", "-"
			if !n.alone {
				engine, book, log = percent(o.worked[enginePart]), fmt.Sprintf("%.1f", o.worked[postgresPart]), fmt.Sprintf("%.0f", o.commits)
			}
			rows = append(rows, []string{mix, n.name, count(o.rate), o.wall, percent(o.worked[gatewayPart] / float64(n.gateways*hostCores)), engine, book, log, ms(o.p50) + ", " + ms(o.p99)})
		}
	}
	return table("| calls | gateways | calls/s | first wall | gateways are used | engine is used | cores of PostgreSQL | its transactions/s | p50, p99 |", rows), nil
}

func count(n float64) string {
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(n, 1)))-1))
	text := strconv.FormatFloat(math.Round(n/digits)*digits, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func percent(part float64) string { return fmt.Sprintf("%.0f %%", 100*part) }

func ms(seconds float64) string { return fmt.Sprintf("%.1f ms", seconds*1e3) }
