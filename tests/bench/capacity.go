//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// capacity is what tests/tools/scale makes its tables from. Its runs of the kind point are for comparison
// only; costs come from the others, which saturate nothing.
type capacity struct {
	Date    string             `json:"date"`
	Machine machine            `json:"machine"`
	CPU     string             `json:"processor"`
	Engine  string             `json:"engine"`
	Book    string             `json:"postgres"`
	Figures map[string]float64 `json:"figures"` // by name with its unit
	Runs    []capacityRun      `json:"runs"`
}

// Kinds of runs, besides single and busy.
const (
	idleRun  = "idle"
	pointRun = "point"
)

// mixes are the calls, by name. Those with limits have a rate, a concurrency and a hard budget of money.
var mixes = []mix{
	{name: "1 KB", size: kib},
	{name: "1 KB, limits", size: kib, limits: true},
	{name: "32 KB, limits", size: 32 * kib, limits: true},
	{name: "stream of 64 events, limits", size: kib, limits: true, stream: true},
}

type mix struct {
	name           string
	size           int
	limits, stream bool
}

// Parts of a placement, besides the gateways, which are gateway1, gateway2, ….
const (
	clientPart   = "client"
	providerPart = "provider"
	enginePart   = "engine"
	postgresPart = "postgres"
	gatewayPart  = "gateway"
)

// placement has the cores of each part, as taskset takes them.
type placement map[string]string

// place puts gateways on those cores, and all else on rest; parts that are named differ.
func place(gateways []string, rest string, others placement) placement {
	p := placement{clientPart: rest, providerPart: rest, enginePart: rest, postgresPart: rest}
	for part, cores := range others {
		p[part] = cores
	}
	for i, cores := range gateways {
		p[fmt.Sprintf("%s%d", gatewayPart, i+1)] = cores
	}
	return p
}

const (
	idleTime     = 4 * time.Second
	pointTries   = 3
	quietMachine = 0.05 // cores that other programs use
	burst        = 100 * time.Millisecond
	// capacityConns are more than saturate a gateway, and fewer than its limit of calls at once.
	capacityConns = 24
)

// measureCapacity measures costs, then points, and writes them to a file.
func measureCapacity(ctx context.Context, o options, progress io.Writer) error {
	c := &capacity{Date: time.Now().UTC().Format(time.DateOnly), Machine: thisMachine(o.Caddy), CPU: processor(), Figures: map[string]float64{}}
	if c.Machine.CPUs < 2 {
		return errors.New("two cores are needed: one for what is measured, one for the rest")
	}
	var err error
	if failed := clustertest.Run(ctx, func(t clustertest.T) { err = c.runs(ctx, o, clustertest.StartEngines(t), progress) }); failed != nil {
		err = failed
	}
	if err == nil {
		err = c.singles(ctx, o, progress)
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(o.Capacity, append(text, '\n'), 0o644)
}

// runs measures what needs servers of its own: first the costs, with what is measured on a core of its
// own, then the points.
func (c *capacity) runs(ctx context.Context, o options, engines *clustertest.Engines, progress io.Writer) error {
	apart := func(n int) placement { return place(slices.Repeat([]string{"0"}, n), "1", nil) }
	beside := place([]string{"0"}, "1", placement{enginePart: "0", clientPart: "0"})
	crowded := place([]string{"0", "0", "0"}, "1", placement{providerPart: "0", clientPart: "0"})
	both := place([]string{"0-1", "0-1", "0-1"}, "0-1", nil)
	for _, step := range []struct {
		engines *clustertest.Engines
		at      placement
		do      func(*capacitySite, []mix) error
		mixes   []mix
	}{
		{nil, apart(0), (*capacitySite).busy, mixes},
		{nil, apart(1), (*capacitySite).costs, mixes[:2]},
		{engines, apart(1), (*capacitySite).costs, mixes},
		{engines, apart(3), (*capacitySite).costs, nil},
		{nil, apart(1), (*capacitySite).points, mixes[:2]},
		{engines, apart(1), (*capacitySite).points, mixes},
		{engines, apart(3), (*capacitySite).points, mixes[:2]},
		{engines, crowded, (*capacitySite).points, mixes[1:3]},
		{engines, beside, (*capacitySite).points, mixes[1:2]},
		{engines, both, (*capacitySite).points, mixes[1:2]},
	} {
		s := &capacitySite{ctx: ctx, c: c, o: o, at: step.at, engines: step.engines, progress: progress}
		if err := s.run(func() error { return step.do(s, step.mixes) }); err != nil {
			return err
		}
	}
	return c.sizes(engines)
}

// singles takes what the suites of this bench measure of one gateway.
func (c *capacity) singles(ctx context.Context, o options, progress io.Writer) error {
	runtime.GOMAXPROCS(c.Machine.CPUs)
	if err := pin(os.Getpid(), allCores()); err != nil {
		return err
	}
	o.Only, o.Rounds, o.Time, o.GOMAXPROCS = "held,sse-paced,vnc-idle,vnc-bulk,scale-1k", 2, 2*time.Second, c.Machine.CPUs
	r := &runner{opts: o, progress: progress, settle: settleTime}
	if err := r.choose(); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	for _, one := range []struct {
		figure, of string
		value      func(round) float64
	}{
		{"KiB an open stream", "held", func(r round) float64 { return r.Figures[gateway].Held }},
		{"us an event of a paced stream", "sse-paced", func(r round) float64 { return r.Figures[gateway].CPU }},
		{"KiB an idle desktop", "vnc-idle", func(r round) float64 { return r.Figures[gateway].Held }},
		{"us a megabyte of a desktop", "vnc-bulk", func(r round) float64 { return r.Figures[gateway].CPU }},
		{"KB a key", "scale-memory", func(r round) float64 { return *r.Ratio }},
	} {
		if err := r.failures[one.of]; err != nil {
			return fmt.Errorf("%s: %w", one.of, err)
		}
		var all []float64
		for _, n := range r.rounds[one.of] {
			all = append(all, one.value(n))
		}
		s, ok := spreadOf(all)
		if !ok {
			return fmt.Errorf("%s has no figure", one.of)
		}
		c.Figures[one.figure] = s.Median
	}
	return nil
}
