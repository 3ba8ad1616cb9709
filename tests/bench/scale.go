//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// scaleCase compares a gateway of many keys with one of few: the size of a configuration must not
// show in a call, and little in memory and in the time of a start.
const scaleCase = "scale"

const (
	fewKeysRole  role = "gateway-few"
	manyKeysRole role = "gateway-many"
)

var scaleServers = []role{fewKeysRole, manyKeysRole}

// size is that of a configuration.
type size struct {
	keys, models int
	// limits are rates: half of them of tenants, so that every call is under one, and half of
	// models, of which every second call is for one.
	limits int
}

var (
	fewKeys  = size{keys: 10, models: 10, limits: 10}
	manyKeys = size{keys: 100_000, models: 10_000, limits: 1_000}
)

// String returns it as the report shows it.
func (s size) String() string {
	return fmt.Sprintf("%d keys, %d models, %d limits", s.keys, s.models, s.limits)
}

// scaleRows are the rows of the case. The first is the ratio many / few, the others are figures of
// the gateway with many keys.
var scaleRows = []struct {
	name, unit string
	metric     metric
	goal       goal
}{
	{"scale-1k", "request", cpuPerOp, goal{1.05, 1.0}},
	{"scale-memory", "key", kbPerKey, goal{0.5, 0.3}},
	{"scale-start", "start", startTime, goal{3, 1.5}},
}

// scaleCalls is the number of different calls: they spread over as many keys and models.
const scaleCalls = 1000

// choose sets the cases that -only names, or all. Without the engines of a cluster all is all else.
func (r *runner) choose() (err error) {
	o := r.opts
	if o.Only == "" {
		r.scale, r.browser, r.pages, r.cluster = true, true, true, len(clustertest.EnginePrograms()) > 0
		r.cases, r.vnc, err = chooseCases(o)
		return err
	}
	names := strings.Split(o.Only, ",")
	own := map[string]*bool{scaleCase: &r.scale, clusterCase: &r.cluster, browserCase: &r.browser, pagesCase: &r.pages}
	var rest []string
	for _, name := range names {
		if chosen := own[name]; chosen != nil {
			*chosen = true
		} else {
			rest = append(rest, name)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	o.Only = strings.Join(rest, ",")
	r.cases, r.vnc, err = chooseCases(o)
	return err
}

// scaleRound measures the case once.
func (r *runner) scaleRound(ctx context.Context, n int) error {
	if r.failures[scaleRows[0].name] != nil {
		return nil
	}
	fmt.Fprintf(r.progress, "round %d/%d %s\n", n+1, r.opts.Rounds, scaleCase)
	f, err := newFleet(r.opts)
	if err != nil {
		return err
	}
	defer f.close()
	got, order, err := r.measureScale(ctx, f, n)
	for _, row := range scaleRows {
		one := round{Order: order, Figures: got, Ratio: finite(scaleValue(row.metric, got, r.many))}
		if err := r.keep(ctx, f, row.name, one, err); err != nil {
			return err
		}
	}
	return nil
}

// scaleValue is the figure that the goal of a row bounds.
func scaleValue(m metric, f map[role]figures, many size) float64 {
	switch m {
	case kbPerKey:
		const kb = 1000
		return ratio((f[manyKeysRole].Anon-f[fewKeysRole].Anon)*mib/kb, float64(many.keys-fewKeys.keys))
	case startTime:
		return ratio(f[manyKeysRole].Start, 1)
	}
	return ratio(f[manyKeysRole].CPU, f[fewKeysRole].CPU)
}

// measureScale starts both gateways, reads their memory, and then loads them in turns.
func (r *runner) measureScale(ctx context.Context, f *fleet, n int) (got map[role]figures, order []role, err error) {
	if err := f.startUpstream(ctx); err != nil {
		return nil, nil, err
	}
	memories, starts := map[role]float64{}, map[role]time.Duration{}
	var sessions []*session
	for _, which := range rotate(scaleServers, n) {
		of := fewKeys
		if which == manyKeysRole {
			of = r.many
		}
		s, took, err := f.startScale(ctx, which, of)
		if err != nil {
			return nil, nil, err
		}
		f.servers, order, starts[which] = append(f.servers, s), append(order, which), took
		if memories[which], err = s.settledMemory(ctx); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", which, err)
		}
		calls, err := scaleLoad(s, f.secrets, of, r.opts.Prompt)
		if err != nil {
			return nil, nil, err
		}
		conns := newConns(smallConns, s.addr)
		defer closeAll(conns)
		sessions = append(sessions, &session{server: s, settle: r.settle, drive: func(ctx context.Context, d time.Duration) (tally, error) {
			return spreadLoop(ctx, conns, calls, d)
		}})
	}
	if got, err = alternate(ctx, sessions, r.opts.Time, usualSlice, 1); err != nil {
		return nil, order, err
	}
	for which, fig := range got {
		fig.Anon, fig.Start = memories[which], starts[which].Seconds()
		got[which] = fig
	}
	return got, order, nil
}

// settledMemory returns the anonymous memory of a server after a collection, in MiB.
func (s *server) settledMemory(ctx context.Context) (float64, error) {
	if err := errors.Join(s.collectGarbage(ctx), sleep(ctx, holdTime)); err != nil {
		return 0, err
	}
	m, err := readMemory(s.proc.PID())
	return float64(m.Anon) / kib, err
}

// spreadLoop is closedLoop with different calls, one after the other.
func spreadLoop(ctx context.Context, conns []*conn, calls []load, d time.Duration) (tally, error) {
	var next atomic.Int64
	return again(ctx, conns, 0, d, func(ctx context.Context, c *conn) (time.Duration, error) {
		n := next.Add(1) - 1
		return calls[int(n)%len(calls)].call(ctx, c, time.Now())
	})
}
