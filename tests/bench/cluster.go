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

// clusterRows are the rows of the case. CPU is the ratio shared / alone, the others are milliseconds
// that the p50 of a call at a fixed rate is longer.
var clusterRows = []struct {
	name   string
	metric metric
	goal   goal
	base   role
	of     role
}{
	{"cluster-p50", addedMS, goal{0.3, 0.2}, aloneLimits, sharedLimits},
	{"cluster-1k", cpuPerOp, goal{1.45, 1.3}, aloneLimits, sharedLimits},
	{"cluster-free-p50", addedMS, goal{0.02, 0.01}, aloneFree, sharedFree},
	{"cluster-free-1k", cpuPerOp, goal{1.05, 1.0}, aloneFree, sharedFree},
}

// engineUse is what the engine did for the calls with shared limits, in one round.
type engineUse struct {
	Calls    int     `json:"calls"`
	Messages float64 `json:"messages_per_call"`
	Script   float64 `json:"command_us_per_call"` // as INFO commandstats says
	CPU      float64 `json:"cpu_us_per_call"`     // of its process, with what it reads and writes
}

func (r *runner) clusterRound(ctx context.Context, n int) error {
	if r.failures[clusterRows[0].name] != nil {
		return nil
	}
	fmt.Fprintf(r.progress, "round %d/%d %s\n", n+1, r.opts.Rounds, clusterCase)
	f, err := newFleet(r.opts)
	if err != nil {
		return err
	}
	defer f.close()
	var got map[role]figures
	failed := clustertest.Run(ctx, func(t clustertest.T) { got, err = r.measureCluster(ctx, f, clustertest.StartEngines(t), n) })
	if err == nil {
		err = failed
	}
	for _, row := range clusterRows {
		value := ratio(got[row.of].CPU, got[row.base].CPU)
		if row.metric == addedMS {
			value = (got[row.of].P50 - got[row.base].P50) / 1000
		}
		one := round{Order: rotate(clusterServers, n), Figures: got, Ratio: finite(value)}
		if err := r.keep(ctx, f, row.name, one, err); err != nil {
			return err
		}
	}
	return nil
}

// measureCluster starts both gateways and loads them in turns: at a fixed rate for the latency, and
// as fast as they answer for the CPU.
func (r *runner) measureCluster(ctx context.Context, f *fleet, engines *clustertest.Engines, n int) (map[role]figures, error) {
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
