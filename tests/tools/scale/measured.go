package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
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
	Cores    map[string]string  `json:"cores"`
	Conns    int                `json:"conns"`
	Seconds  float64            `json:"seconds"`
	Calls    float64            `json:"calls"`
	CPU      map[string]float64 `json:"cpu"` // seconds
	Messages float64            `json:"messages"`
	Commits  float64            `json:"commits"`
	Written  float64            `json:"written"` // bytes
	P50      float64            `json:"p50_us"`
	Other    float64            `json:"other"` // cores
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
		if r.Kind != "point" {
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
	sum.Messages += r.Messages
	sum.Commits += r.Commits
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

// work is the CPU of one call at a part, in seconds: a part that has several calls at a time takes them at
// one wake-up.
type work struct{ among, wake float64 }

// of is the work for one of so many.
func (w work) of(n int) float64 { return w.among + w.wake/float64(n) }

// workOf is what two measurements say: of one call at a time, and of n.
func workOf(single, many float64, n int) work {
	wake := max(0, single-many) / (1 - 1/float64(n))
	return work{max(0, many-wake/float64(n)), wake}
}

// costs are seconds of a core.
type costs struct {
	gateway, provider, client work               // a call
	message                   work               // of the engine
	messages                  int                // that a call waits for; settlements are others
	commit, row               float64            // of PostgreSQL
	written                   float64            // bytes of its log, a row
	idle                      map[string]float64 // a second and gateway
}

// costs are those of a mix. Client and provider have many calls at a time only without a gateway between
// them.
func (m *measured) costs(mix string, alone bool) (c costs, err error) {
	var quiet, single, busy, direct run
	for _, one := range []struct {
		kind     string
		gateways int
		into     *run
	}{{"quiet", 1, &quiet}, {"single", 1, &single}, {"busy", 1, &busy}, {"busy", 0, &direct}} {
		if *one.into, err = m.all(one.kind, mix, one.gateways, alone || one.gateways == 0); err != nil {
			return c, err
		}
	}
	if c.idle, err = m.idle(alone); err != nil {
		return c, err
	}
	net := func(r run, part string) float64 { return max(0, r.CPU[part]-c.idle[part]*r.Seconds) }
	c.gateway = workOf(net(single, gatewayPart)/single.Calls, net(busy, gatewayPart)/busy.Calls, busy.Conns)
	c.provider = workOf(single.CPU[providerPart]/single.Calls, direct.CPU[providerPart]/direct.Calls, direct.Conns)
	c.client = workOf(single.CPU[clientPart]/single.Calls, direct.CPU[clientPart]/direct.Calls, direct.Conns)
	if alone {
		return c, nil
	}
	if c.messages = int(busy.Messages / busy.Calls); c.messages > 0 {
		c.message = workOf(net(single, enginePart)/single.Messages, net(busy, enginePart)/busy.Messages, busy.Conns)
	}
	// Two equations: so much a transaction and so much a row.
	second := func(r run) (cpu, commits, rows float64) {
		return net(r, postgresPart) / r.Seconds, r.Commits / r.Seconds, r.Calls / r.Seconds
	}
	cpu1, commits1, rows1 := second(quiet)
	cpu2, commits2, rows2 := second(busy)
	c.row = max(0, (cpu2*commits1-cpu1*commits2)/(rows2*commits1-rows1*commits2))
	c.commit = max(0, cpu1-c.row*rows1) / commits1
	c.written = busy.Written / busy.Calls
	if math.IsNaN(c.row+c.commit) || math.IsInf(c.row+c.commit, 0) {
		return c, fmt.Errorf("the runs of %q have no transactions", mix)
	}
	return c, nil
}

// idle is what a gateway costs without calls, a second: the least of the runs, because a part that has
// just begun does more.
func (m *measured) idle(alone bool) (map[string]float64, error) {
	least := map[string]float64{}
	for _, r := range m.Runs {
		if r.Kind != "idle" || r.Gateways == 0 || r.Alone != alone {
			continue
		}
		for _, part := range []string{gatewayPart, enginePart, postgresPart} {
			used := r.CPU[part] / r.Seconds / float64(r.Gateways)
			if before, ok := least[part]; !ok || used < before {
				least[part] = used
			}
		}
	}
	if len(least) == 0 {
		return nil, errors.New("no run without calls")
	}
	return least, nil
}
