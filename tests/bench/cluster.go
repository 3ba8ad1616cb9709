//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// clusterCase compares one gateway with one that shares its limits with others, by an engine and
// PostgreSQL on the loopback: under a key with three limits (a rate, a concurrency, a hard budget of
// money), and under one that has none.
const clusterCase = "cluster"

const (
	aloneLimits  role = "alone"
	sharedLimits role = "shared"
	aloneFree    role = "alone-free"
	sharedFree   role = "shared-free"
)

// clusterServers are the roles in the order of the report. Those with limits and those without are
// the same two processes, called with another key.
var clusterServers = []role{aloneLimits, sharedLimits, aloneFree, sharedFree}

const addedMS metric = "added p50, ms"

// clusterSuite has ratios of the CPU, shared / alone, and the milliseconds that the p50 of a call at a
// fixed rate is longer.
func clusterSuite() suite {
	longer := func(of, base role) func(map[role]figures) float64 {
		return func(f map[role]figures) float64 { return (f[of].P50 - f[base].P50) / 1000 }
	}
	return suite{
		name: clusterCase, servers: clusterServers, round: atOnce(measureCluster), notes: engineNotes,
		head: says("shared limits: one gateway alone and one of a cluster, with an engine and PostgreSQL on this machine; the key has a rate, a concurrency and a hard budget, the key of free has none\n" +
			"cluster-p50 is by how many milliseconds the p50 at the fixed rate is longer, cluster-1k the ratio of the gateway's CPU, shared / alone"),
		rows: []row{
			{"cluster-p50", "call", addedMS, goal{0.3, 0.2}, longer(sharedLimits, aloneLimits), ""},
			{"cluster-1k", "call", cpuPerOp, goal{1.45, 1.3}, cpuRatio(sharedLimits, aloneLimits), "cluster-p50"},
			{"cluster-free-p50", "call", addedMS, goal{0.02, 0.01}, longer(sharedFree, aloneFree), "cluster-p50"},
			{"cluster-free-1k", "call", cpuPerOp, goal{1.05, 1.0}, cpuRatio(sharedFree, aloneFree), "cluster-p50"},
		},
	}
}

// engineUse is what the engine did for the calls with shared limits, in one round.
type engineUse struct {
	Calls    int     `json:"calls"`
	Messages float64 `json:"messages_per_call"`
	Script   float64 `json:"command_us_per_call"` // as INFO commandstats says
	CPU      float64 `json:"cpu_us_per_call"`     // of its process, with what it reads and writes
}

func measureCluster(ctx context.Context, r *runner, f *fleet, n int) (got map[role]figures, err error) {
	failed := clustertest.Run(ctx, func(t clustertest.T) { got, err = measureBoth(ctx, r, f, clustertest.StartEngines(t), n) })
	if err == nil {
		err = failed
	}
	return got, err
}

// engineNotes sums up what the engine did.
func engineNotes(r *runner) []string {
	var m, s, c []float64
	for _, use := range r.engine {
		m, s, c = append(m, use.Messages), append(s, use.Script), append(c, use.CPU)
	}
	messages, ok := spreadOf(m)
	script, _ := spreadOf(s)
	cpu, _ := spreadOf(c)
	if !ok || script.Median <= 0 || cpu.Median <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("the engine, a call: %s messages; %s us in commands, so %.0f calls a second on one core; %s us of CPU with reading and writing, so %.0f calls a second on this one",
		messages, script, 1e6/script.Median, cpu, 1e6/cpu.Median)}
}

// measureBoth starts both gateways and loads them in turns: at a fixed rate for the latency, and
// as fast as they answer for the CPU.
func measureBoth(ctx context.Context, r *runner, f *fleet, engines *clustertest.Engines, n int) (map[role]figures, error) {
	if err := f.startUpstream(ctx); err != nil {
		return nil, err
	}
	alone, err := f.startClusterGateway(ctx, aloneLimits, nil)
	if err != nil {
		return nil, err
	}
	shared, err := f.startClusterGateway(ctx, sharedLimits, engines)
	if err != nil {
		return nil, err
	}
	f.servers = []*server{alone, shared}
	body, err := chatBody(providerPrefix+modelWhole, false, kib, r.opts.Prompt)
	if err != nil {
		return nil, err
	}
	measure := func(conns int, roles []role, drive func(context.Context, []*conn, load, time.Duration) (tally, error)) (map[role]figures, error) {
		var sessions []*session
		for _, which := range rotate(roles, n) {
			s, key := *alone, f.secrets.gateway
			if which == sharedLimits || which == sharedFree {
				s = *shared
			}
			if which == aloneFree || which == sharedFree {
				key = f.secrets.spent
			}
			s.role = which
			open := newConns(conns, s.addr)
			defer closeAll(open)
			l := load{request: encode(s.addr, chatPath, key, body), sent: len(body), check: checkWhole, model: s.model(providerPrefix + modelWhole)}
			sessions = append(sessions, &session{server: &s, settle: r.settle, drive: func(ctx context.Context, d time.Duration) (tally, error) { return drive(ctx, open, l, d) }})
		}
		return alternate(ctx, sessions, r.opts.Time, usualSlice, 1)
	}
	paced, err := measure(rateConns, clusterServers, func(ctx context.Context, open []*conn, l load, d time.Duration) (tally, error) {
		return fixedRate(ctx, open, l, r.opts.Rate, d)
	})
	if err != nil {
		return nil, err
	}
	got, err := measure(smallConns, clusterServers, closedLoop)
	if err != nil {
		return nil, err
	}
	for which, fig := range got {
		fig.P50, fig.P99 = paced[which].P50, paced[which].P99
		got[which] = fig
	}
	use, err := readEngine(engines.Redis.Addr, func() (int, error) {
		only, err := measure(smallConns, []role{sharedLimits}, closedLoop)
		return only[sharedLimits].Calls, err
	})
	r.engine = append(r.engine, use)
	return got, err
}

// readEngine runs calls and reads what the engine did meanwhile. Beats of the gateway are among it.
func readEngine(addr string, calls func() (int, error)) (use engineUse, err error) {
	before, err := engineCPU(addr)
	if err != nil {
		return use, err
	}
	if _, err := clustertest.Redis(addr, "CONFIG", "RESETSTAT"); err != nil {
		return use, err
	}
	if use.Calls, err = calls(); err != nil {
		return use, err
	}
	after, err := engineCPU(addr)
	if err != nil {
		return use, err
	}
	text, err := clustertest.Redis(addr, "INFO", "commandstats")
	if err != nil {
		return use, err
	}
	var messages, micros float64
	for line := range strings.Lines(text) {
		// cmdstat_evalsha:calls=12,usec=345,usec_per_call=28.75,rejected_calls=0,failed_calls=0
		name, stats, found := strings.Cut(line, ":")
		var n, us float64
		if _, err := fmt.Sscanf(stats, "calls=%g,usec=%g,", &n, &us); !found || err != nil || !sentByGateway(name) {
			continue
		}
		messages, micros = messages+n, micros+us
	}
	each := max(1, float64(use.Calls)*(1+warmUpPart))
	use.Messages, use.Script, use.CPU = messages/each, micros/each, (after-before)*1e6/each
	return use, nil
}

// warmUpPart is how many calls more than are counted a measurement makes: alternate warms up.
const warmUpPart = 0.25

// sentByGateway reports whether a command is a message of the gateway. Commands that a script calls
// are counted in the script's time.
func sentByGateway(name string) bool {
	switch strings.TrimPrefix(name, "cmdstat_") {
	case "eval", "evalsha", "xread", "script|load":
		return true
	}
	return false
}

// engineCPU is the time that the engine's process has used, in seconds.
func engineCPU(addr string) (seconds float64, err error) {
	text, err := clustertest.Redis(addr, "INFO", "cpu")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		var s float64
		for _, name := range []string{"used_cpu_sys:", "used_cpu_user:"} {
			if _, err := fmt.Sscanf(line, name+"%g", &s); err == nil {
				seconds += s
			}
		}
	}
	return seconds, nil
}
