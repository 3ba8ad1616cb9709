package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// measured is what `tests/bench -capacity` writes.
type measured struct {
	Date    string `json:"date"`
	Machine struct {
		CPUs     int    `json:"cpus"`
		Kernel   string `json:"kernel"`
		ServerGo string `json:"server_go"`
	} `json:"machine"`
	Processor string             `json:"processor"`
	Engine    string             `json:"engine"`
	Postgres  string             `json:"postgres"`
	Figures   map[string]float64 `json:"figures"`
	Runs      []run              `json:"runs"`
}

// run is one run. Points are for comparison; of runs of the other kinds costs are taken.
type run struct {
	Kind     string             `json:"kind"`
	Mix      string             `json:"mix"`
	Gateways int                `json:"gateways"`
	Alone    bool               `json:"alone"` // one gateway without engines
	Cores    map[string]string  `json:"cores"` // by part, as taskset takes them
	Seconds  float64            `json:"seconds"`
	Calls    float64            `json:"calls"`
	CPU      map[string]float64 `json:"cpu"`     // seconds, by part; the gateways are one
	Written  float64            `json:"written"` // bytes of PostgreSQL's log
	P50      float64            `json:"p50_us"`
	Other    float64            `json:"other"` // cores that other programs used
}

// Parts that use cores.
const (
	gatewayPart  = "gateway"
	enginePart   = "engine"
	postgresPart = "postgres"
	providerPart = "provider"
	clientPart   = "client"
)

var parts = []string{gatewayPart, enginePart, postgresPart, providerPart, clientPart}

// Kinds of runs. A single run has one call at a time; a busy one has many, in bursts with pauses.
const (
	idleRun   = "idle"
	singleRun = "single"
	busyRun   = "busy"
	pointRun  = "point"
)

func load(path string) (*measured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &measured{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// points are the runs at saturation, those of the same load and placement added.
func (m *measured) points() []run {
	var all []run
	for _, r := range m.Runs {
		if r.Kind != pointRun {
			continue
		}
		i := len(all) - 1
		for ; i >= 0 && all[i].where() != r.where(); i-- {
		}
		if i < 0 {
			all = append(all, run{})
			i = len(all) - 1
		}
		all[i].add(r)
	}
	return all
}

// where is the load and placement of a run.
func (r run) where() string { return fmt.Sprint(r.Kind, r.Mix, r.Gateways, r.Alone, r.Cores) }

func (r *run) add(o run) {
	sum := o
	sum.Seconds += r.Seconds
	sum.Calls += r.Calls
	sum.Written += r.Written
	sum.Other = (r.Other*r.Seconds + o.Other*o.Seconds) / sum.Seconds
	sum.P50 = (r.P50*r.Calls + o.P50*o.Calls) / max(1, sum.Calls)
	sum.CPU = map[string]float64{}
	for _, part := range parts {
		sum.CPU[part] = r.CPU[part] + o.CPU[part]
	}
	*r = sum
}

// all adds up the runs of a kind.
func (m *measured) all(kind, mix string, gateways int, alone bool) (sum run, err error) {
	for _, r := range m.Runs {
		if r.Kind == kind && r.Mix == mix && r.Gateways == gateways && r.Alone == alone {
			sum.add(r)
		}
	}
	if sum.Seconds == 0 {
		return sum, fmt.Errorf("no run of kind %s for %q", kind, mix)
	}
	return sum, nil
}

// mixes are those of which costs were measured.
func (m *measured) mixes() (all []string) {
	seen := map[string]bool{}
	for _, r := range m.Runs {
		if r.Kind == busyRun && r.Gateways > 0 && !seen[r.Mix] {
			seen[r.Mix] = true
			all = append(all, r.Mix)
		}
	}
	return all
}

// costs are the seconds of a core that a call takes at each part.
type costs map[string]float64

// costs are those of a mix in runs of a kind. The client and the provider are busy only without a
// gateway between them.
func (m *measured) costs(kind, mix string, alone bool) (costs, error) {
	with, err := m.all(kind, mix, 1, alone)
	if err != nil {
		return nil, err
	}
	direct := with
	if kind == busyRun {
		if direct, err = m.all(kind, mix, 0, true); err != nil {
			return nil, err
		}
	}
	k := costs{}
	for _, part := range parts {
		k[part] = with.CPU[part] / with.Calls
	}
	for _, part := range []string{providerPart, clientPart} {
		k[part] = direct.CPU[part] / direct.Calls
	}
	return k, nil
}

// law is the calls a second at which a placement is saturated, and the part that does most where: a
// core gives each call what its parts take of it, and the busiest cores are the wall.
func (k costs) law(r run) (rate float64, wall string) {
	used, most := map[string]float64{}, map[string]string{}
	put := func(part, cores string, cost float64) {
		used[cores] += cost / float64(coreCount(cores))
		if largest := most[cores]; largest == "" || k[part] > k[largest] {
			most[cores] = part
		}
	}
	for _, part := range parts {
		if part != gatewayPart {
			put(part, r.Cores[part], k[part])
		}
	}
	for i := range r.Gateways {
		put(gatewayPart, r.Cores[gatewayPart+strconv.Itoa(i+1)], k[gatewayPart]/float64(r.Gateways))
	}
	busiest := r.Cores[clientPart]
	for cores := range used {
		if used[cores] > used[busiest] {
			busiest = cores
		}
	}
	return 1 / used[busiest], most[busiest]
}

// idle is what gateways cost without calls, as parts of a core: the least of the runs, because a
// part that has just begun does more.
func (m *measured) idle(gateways int) (costs, error) {
	least := costs{}
	for _, r := range m.Runs {
		if r.Kind != idleRun || r.Gateways != gateways || r.Alone {
			continue
		}
		for _, part := range parts {
			used := r.CPU[part] / r.Seconds
			if before, ok := least[part]; !ok || used < before {
				least[part] = used
			}
		}
	}
	if len(least) == 0 {
		return nil, fmt.Errorf("no run of %d gateways without calls", gateways)
	}
	return least, nil
}
