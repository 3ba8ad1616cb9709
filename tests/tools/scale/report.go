package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	// tolerance is how far the law may be from what one gateway was measured at.
	tolerance = 0.15
	// quiet is how many cores other programs may have used beside a point. With more it is no
	// measurement.
	quiet = 0.10
	// useful is how much of its cores a part should use: the rest is for peaks.
	useful = 2.0 / 3

	// leastCost is the time of a core that is worth a figure.
	leastCost = 1e-6

	streamEvents = 20    // a second, of one stream
	desktopRate  = 0.125 // megabytes a second, of one desktop: 1 Mbit/s
	keptDays     = 30
)

// report are the tables, and an error if the law is off for one gateway.
func report(m *measured) (blocks []block, refused error) {
	points, off, refused := pointsTable(m)
	blocks = []block{{"points", points}, {"off", off.String()}, {"machine", machineLine(m)}, {"take", takeTable(m)}}
	for _, one := range []struct {
		name  string
		table func(*measured) (string, error)
	}{{"costs", costsTable}, {"carries", carriesTable}, {"without-calls", idleTable}} {
		text, err := one.table(m)
		refused = errors.Join(refused, err)
		blocks = append(blocks, block{one.name, text})
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

// errorsOfLaw are how far it is off, as parts of what was measured, by the number of gateways.
type errorsOfLaw map[int][]float64

// String says how far it is off with one gateway, and with several.
func (e errorsOfLaw) String() string {
	one, several := 0.0, []float64{}
	for gateways, all := range e {
		for _, off := range all {
			if gateways == 1 {
				one = max(one, math.Abs(off))
			} else {
				several = append(several, off)
			}
		}
	}
	text := fmt.Sprintf("With one gateway the law is at most %.0f %% off.", 100*one)
	if len(several) > 0 {
		text += fmt.Sprintf(" With three on the cores of one it is %+.0f to %+.0f %% off.", 100*slices.Min(several), 100*slices.Max(several))
	}
	return text + "\n"
}

// pointsTable compares what was measured at saturation with the law.
func pointsTable(m *measured) (text string, found errorsOfLaw, refused error) {
	var rows [][]string
	found = errorsOfLaw{}
	points := m.points()
	if len(points) == 0 {
		refused = errors.New("nothing was measured at saturation")
	}
	for _, r := range points {
		k, err := m.costs(busyRun, r.Mix, r.Alone)
		if err != nil {
			return "", nil, err
		}
		said, wall := k.law(r)
		got := r.Calls / r.Seconds
		off := said/got - 1
		found[r.Gateways] = append(found[r.Gateways], off)
		gateways := strconv.Itoa(r.Gateways)
		if r.Alone {
			gateways += " alone"
		}
		switch {
		case r.Gateways == 1 && math.Abs(off) > tolerance:
			refused = errors.Join(refused, fmt.Errorf("%s, %s: measured %.0f calls a second, by the law %.0f", r.Mix, layout(r), got, said))
		case r.Other > quiet:
			refused = errors.Join(refused, fmt.Errorf("%s gateways, %s, %s: other programs used %.2f cores", gateways, r.Mix, layout(r), r.Other))
		}
		rows = append(rows, []string{gateways, r.Mix, layout(r), count(got), count(said), fmt.Sprintf("%+.0f %%", 100*off), wall, ms(r.P50 / 1e6)})
	}
	return table("| gateways | calls | on core 0; on core 1 | measured, calls/s | by the law | error | wall | p50 |", rows), found, refused
}

// coreCount counts the cores of a list, "0" or "0-1".
func coreCount(list string) int {
	first, last, several := strings.Cut(list, "-")
	if !several {
		return 1
	}
	from, _ := strconv.Atoi(first)
	to, _ := strconv.Atoi(last)
	return to - from + 1
}

// layout says what runs where.
func layout(r run) string {
	if coreCount(r.Cores[clientPart]) > 1 {
		return "all on both"
	}
	on := func(core string) string {
		var all []string
		n := 0
		for i := range r.Gateways {
			if r.Cores[gatewayPart+strconv.Itoa(i+1)] == core {
				n++
			}
		}
		switch {
		case n == 1:
			all = append(all, "a gateway")
		case n > 1:
			all = append(all, fmt.Sprintf("%d gateways", n))
		}
		for _, part := range parts[1:] {
			if r.Cores[part] == core && (!r.Alone || part == providerPart || part == clientPart) {
				all = append(all, part)
			}
		}
		return strings.Join(all, ", ")
	}
	return on("0") + "; " + on("1")
}

// costsTable has what a call costs, alone and among many.
func costsTable(m *measured) (string, error) {
	var rows [][]string
	for _, mix := range m.mixes() {
		both := func(part string, alone bool) (string, error) {
			one, err := m.costs(singleRun, mix, alone)
			many, failed := m.costs(busyRun, mix, alone)
			if err == nil && many[part] < leastCost {
				return "-", nil
			}
			return fmt.Sprintf("%.0f us, %.0f us", one[part]*1e6, many[part]*1e6), errors.Join(err, failed)
		}
		row := []string{mix}
		alone, err := both(gatewayPart, true)
		if err != nil {
			alone = "-"
		}
		row = append(row, alone)
		for _, part := range []string{gatewayPart, enginePart, postgresPart} {
			text, err := both(part, false)
			if err != nil {
				return "", err
			}
			row = append(row, text)
		}
		busy, err := m.all(busyRun, mix, 1, false)
		if err != nil {
			return "", err
		}
		rows = append(rows, append(row, fmt.Sprintf("%.0f", busy.Written/busy.Calls)))
	}
	return table("| a call | gateway alone | gateway of a cluster | engine | PostgreSQL | bytes of its log |", rows), nil
}

// carriesTable has the calls a second that two thirds of a core of each part carry.
func carriesTable(m *measured) (string, error) {
	var rows [][]string
	for _, mix := range m.mixes() {
		row := []string{mix}
		for _, one := range []struct {
			part  string
			alone bool
		}{{gatewayPart, true}, {gatewayPart, false}, {enginePart, false}, {postgresPart, false}} {
			k, err := m.costs(busyRun, mix, one.alone)
			switch {
			case err != nil && !one.alone:
				return "", err
			case err != nil || k[one.part] < leastCost:
				row = append(row, "-")
			default:
				row = append(row, count(useful/k[one.part]))
			}
		}
		rows = append(rows, row)
	}
	return table("| calls | a core of a gateway alone | a core of a gateway of a cluster | the engine | a core of PostgreSQL |", rows), nil
}

// takeTable has what else than calls takes room.
func takeTable(m *measured) string {
	f := m.Figures
	var rows [][]string
	add := func(what, cores, memory, disk string) { rows = append(rows, []string{what, cores, memory, disk}) }
	used := func(seconds float64) string { return fmt.Sprintf("%.1f", seconds/useful) }
	add("a gateway", "-", size(f["MiB a gateway without load"]*(1<<20)), "-")
	for _, n := range []float64{1000, 10_000, 100_000} {
		add(count(n)+" open streams", used(n*streamEvents*f["us an event of a paced stream"]/1e6), size(n*f["KiB an open stream"]*1024), "-")
	}
	for _, n := range []float64{100, 1000, 10_000} {
		add(count(n)+" open desktops", used(n*desktopRate*f["us a megabyte of a desktop"]/1e6), size(n*f["KiB an idle desktop"]*1024), "-")
	}
	for _, n := range []float64{1000, 100_000, 1_000_000} {
		add(count(n)+" keys", "-", size(n*f["KB a key"]*1000)+" in each", "-")
	}
	for _, n := range []float64{1e6, 1e7, 1e8} {
		disk := func(figure string) string { return size(n * keptDays * f[figure]) }
		add(fmt.Sprintf("%s calls a day, kept %d days", count(n), keptDays), "-", "-", disk("bytes a row in SQLite")+"; PostgreSQL "+disk("bytes a row in PostgreSQL"))
	}
	return table("| more | cores of gateways | memory of gateways | disk |", rows)
}

// idleTable is what gateways do without calls.
func idleTable(m *measured) (string, error) {
	var rows [][]string
	for _, n := range []int{1, 3} {
		idle, err := m.idle(n)
		if err != nil {
			return "", err
		}
		row := []string{strconv.Itoa(n)}
		for _, part := range []string{gatewayPart, enginePart, postgresPart} {
			row = append(row, fmt.Sprintf("%.1f %%", 100*idle[part]))
		}
		rows = append(rows, append(row, strconv.Itoa(n*connections)))
	}
	return table("| gateways | they use, of a core | engine | PostgreSQL | its connections, at most |", rows), nil
}

// connections of a gateway to PostgreSQL: internal/postgres has 8 for queries and one for rows.
const connections = 9

func size(bytes float64) string {
	for _, unit := range []struct {
		name  string
		bytes float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if bytes >= unit.bytes {
			n := bytes / unit.bytes
			if n < 10 {
				return fmt.Sprintf("%.1f %s", n, unit.name)
			}
			return count(n) + " " + unit.name
		}
	}
	return fmt.Sprintf("%.0f bytes", bytes)
}

func count(n float64) string {
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(n, 1)))-1))
	text := strconv.FormatFloat(math.Round(n/digits)*digits, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func ms(seconds float64) string { return fmt.Sprintf("%.1f ms", seconds*1e3) }
