//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
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

// scaleSuite has the ratio many / few, and figures of the gateway with many keys.
func scaleSuite() suite {
	return suite{
		name: scaleCase, servers: scaleServers, round: atOnce(measureScale),
		head: says(fmt.Sprintf("many keys: gateway-few has %s, gateway-many %s; the keys are in a key_file, the calls of 1 KB spread over %d keys and models\n", fewKeys, manyKeys, scaleCalls) +
			"scale-1k is the ratio of the CPU, many / few; scale-memory the growth of anonymous memory from few to many, after a collection, in KB (1,000 bytes) a key, " +
			"models and limits included; scale-start the seconds from the start of the process to its first answered call"),
		rows: []row{
			{"scale-1k", "request", cpuPerOp, goal{1.05, 1.0}, cpuRatio(manyKeysRole, fewKeysRole), ""},
			{"scale-memory", "key", kbPerKey, goal{0.5, 0.3}, func(f map[role]figures) float64 {
				const kb = 1000
				return ratio((f[manyKeysRole].Anon-f[fewKeysRole].Anon)*mib/kb, float64(manyKeys.keys-fewKeys.keys))
			}, "scale-1k"},
			{"scale-start", "start", startTime, goal{3, 1.5}, func(f map[role]figures) float64 { return ratio(f[manyKeysRole].Start, 1) }, "scale-1k"},
		},
	}
}

// scaleCalls is the number of different calls: they spread over as many keys and models.
const scaleCalls = 1000

// measureScale starts both gateways, reads their memory, and then loads them in turns.
func measureScale(ctx context.Context, r *runner, f *fleet, n int) (got map[role]figures, err error) {
	if err := f.startUpstream(ctx); err != nil {
		return nil, err
	}
	memories, starts := map[role]float64{}, map[role]time.Duration{}
	var sessions []*session
	for _, which := range rotate(scaleServers, n) {
		of := fewKeys
		if which == manyKeysRole {
			of = manyKeys
		}
		s, took, err := f.startScale(ctx, which, of)
		if err != nil {
			return nil, err
		}
		f.servers, starts[which] = append(f.servers, s), took
		if memories[which], err = s.settledMemory(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", which, err)
		}
		calls, err := scaleLoad(s, f.secrets, of, r.opts.Prompt)
		if err != nil {
			return nil, err
		}
		conns := newConns(smallConns, s.addr)
		defer closeAll(conns)
		sessions = append(sessions, &session{server: s, settle: r.settle, drive: func(ctx context.Context, d time.Duration) (tally, error) {
			return spreadLoop(ctx, conns, calls, d)
		}})
	}
	if got, err = alternate(ctx, sessions, r.opts.Time, usualSlice, 1); err != nil {
		return nil, err
	}
	for which, fig := range got {
		fig.Anon, fig.Start = memories[which], starts[which].Seconds()
		got[which] = fig
	}
	return got, nil
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
