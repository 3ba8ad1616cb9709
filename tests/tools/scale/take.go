package main

import (
	"fmt"
	"math"
	"strconv"
)

const (
	streamEvents  = 20    // a second, of one stream
	desktopRate   = 0.125 // megabytes a second, of one desktop: 1 Mbit/s
	keptDays      = 30
	limitsMix     = "1 KB, limits"
	freeMix       = "1 KB"
	secondsOfADay = 86_400
)

// takeTable says what to take for a need.
func takeTable(m *measured) (string, error) {
	f := m.Figures
	var rows [][]string
	add := func(need, gateways, engine, book, disk string) {
		rows = append(rows, []string{need, gateways, engine, book, disk})
	}
	disk := func(rows, bytes float64) string { return size(rows * bytes) }
	for _, c := range []struct {
		mix   string
		rates []float64
	}{{limitsMix, []float64{100, 1000, 5000, 20_000}}, {freeMix, []float64{20_000, 50_000}}} {
		k, err := m.costs(c.mix, false)
		if err != nil {
			return "", err
		}
		one := carried(m.hosts(1, false), k).rate
		for _, rate := range c.rates {
			n := int(math.Ceil(rate / one))
			o := atRate(m.hosts(n, false), k, rate)
			engine := percent(o.worked[enginePart]) + " of a core"
			if clusters := math.Ceil(o.worked[enginePart] / useful); clusters > 1 {
				engine = fmt.Sprintf("%.0f, of clusters of their own", clusters)
			}
			add(count(rate)+" calls/s, "+c.mix, hosts(n), engine, fmt.Sprintf("%.1f cores", o.worked[postgresPart]), disk(rate*secondsOfADay, f["bytes a row in PostgreSQL"])+" a day")
		}
	}
	memory := func(n int, more float64) string {
		return hosts(n) + ", " + size(f["MiB a gateway without load"]*(1<<20)+more/float64(n)) + " of memory each"
	}
	for _, n := range []float64{1000, 10_000, 100_000} {
		g := gatewaysFor(n * streamEvents * f["us an event of a paced stream"] / 1e6)
		add(count(n)+" open streams", memory(g, n*f["KiB an open stream"]*1024), "-", "-", "-")
	}
	for _, n := range []float64{100, 1000, 10_000} {
		g := gatewaysFor(n * desktopRate * f["us a megabyte of a desktop"] / 1e6)
		add(count(n)+" open desktops", memory(g, n*f["KiB an idle desktop"]*1024), "-", "-", "-")
	}
	for _, n := range []float64{1000, 100_000, 1_000_000} {
		add(count(n)+" keys", size(n*f["KB a key"]*1000)+" more memory each", "-", "-", "-")
	}
	for _, n := range []float64{1e6, 1e7, 1e8} {
		add(count(n)+" calls a day, kept "+strconv.Itoa(keptDays)+" days", "without engines: "+disk(n*keptDays, f["bytes a row in SQLite"])+" of disk", "-", fmt.Sprintf("%.0f rows/s", n/secondsOfADay), disk(n*keptDays, f["bytes a row in PostgreSQL"]))
	}
	return table("| you need | gateways | engine | PostgreSQL | its disk |", rows), nil
}

// gatewaysFor is how many gateways have so many cores to use.
func gatewaysFor(cores float64) int { return int(max(1, math.Ceil(cores/(hostCores*useful)))) }

func hosts(n int) string {
	return fmt.Sprintf("%d × %d cores", n, hostCores)
}

func size(bytes float64) string {
	for _, unit := range []struct {
		name  string
		bytes float64
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}} {
		if bytes >= unit.bytes {
			return count(bytes/unit.bytes) + " " + unit.name
		}
	}
	return fmt.Sprintf("%.0f bytes", bytes)
}

// idleTable is what gateways do without calls: it grows with their number alone.
func idleTable(m *measured) (string, error) {
	idle, err := m.idle(false)
	if err != nil {
		return "", err
	}
	var rows [][]string
	for _, n := range []int{1, 3, 50} {
		row := []string{strconv.Itoa(n)}
		for _, part := range []string{gatewayPart, enginePart, postgresPart} {
			row = append(row, fmt.Sprintf("%.1f %%", 100*idle[part]*float64(n)))
		}
		rows = append(rows, append(row, strconv.Itoa(n*connections)))
	}
	return table("| gateways | they use, of a core | engine | PostgreSQL | its connections, at most |", rows), nil
}

// connections of a gateway to PostgreSQL: internal/postgres has 8 for queries and one for rows.
const connections = 9
