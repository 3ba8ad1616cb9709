//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// figures are the results of one server in one case of one round. Times are microseconds; what a
// case does not measure is 0.
type figures struct {
	Calls     int     `json:"calls"`
	CPU       float64 `json:"cpu_us"`
	Ticks     int     `json:"cpu_ticks"` // clock ticks behind CPU: its resolution
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	PerSecond float64 `json:"calls_per_second"`
	RSS       float64 `json:"rss_mib"`
	Peak      float64 `json:"peak_rss_mib"`
	Held      float64 `json:"kib_per_stream"`
	Anon      float64 `json:"anonymous_mib,omitempty"` // after a collection
	Start     float64 `json:"start_s,omitempty"`       // until the first answered call
}

// round is one paired measurement of a case. The order is that of the first slice.
type round struct {
	Order   []role           `json:"order"`
	Figures map[role]figures `json:"figures"`
	Ratio   *float64         `json:"ratio"` // to reverse_proxy; null if it would mean nothing
	// ToOff is the ratio of a gateway with duties on to the one without.
	ToOff *float64 `json:"ratio_to_off,omitempty"`
}

// runner runs the rounds and keeps their results.
type runner struct {
	opts     options
	cases    []benchCase
	vnc      []vncCase
	suites   []suite
	progress io.Writer
	settle   time.Duration // settleTime, but zero in tests

	started  time.Time
	rounds   map[string][]round // by case
	failures map[string]error   // by case, the first
	proof    proof
	vncProof vncProof
	engine   []engineUse // by round
}

// run runs all rounds. A case that fails is left out from then on; an error means that the run
// could not continue. No server is left running in any case.
func (r *runner) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	r.started = time.Now()
	r.rounds, r.failures = map[string][]round{}, map[string]error{}
	for n := range r.opts.Rounds {
		if err := r.round(ctx, n); err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("interrupted in round %d of %d: %w", n+1, r.opts.Rounds, ctx.Err())
			}
			return fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	return nil
}

// round measures the selected cases, one kind of traffic after the other: the servers of one do not
// run beside those of the other.
func (r *runner) round(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(r.cases) > 0 {
		if err := r.modelRound(ctx, n); err != nil {
			return err
		}
	}
	if len(r.vnc) > 0 {
		if err := r.vncRound(ctx, n); err != nil {
			return err
		}
	}
	for _, s := range r.suites {
		if err := r.suiteRound(ctx, s, n); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) modelRound(ctx context.Context, n int) error {
	f, err := startFleet(ctx, r.opts)
	if err != nil {
		return err
	}
	defer f.close()
	did := made{duties: map[duties]int{}}
	for i, c := range r.cases {
		if r.failures[c.name] != nil {
			continue
		}
		fmt.Fprintf(r.progress, "round %d/%d %s\n", n+1, r.opts.Rounds, c.name)
		servers, err := f.serversOf(ctx, c)
		if err != nil {
			return err
		}
		servers = rotate(servers, n+i)
		got, calls, err := r.measure(ctx, f, servers, c)
		did.count(c, calls)
		for _, row := range c.rows() {
			one := round{Figures: got, Ratio: finite(row.ratioTo(got, proxy)), ToOff: finite(row.ratioTo(got, gateway))}
			if c.duties == 0 {
				one.ToOff = nil
			}
			for _, s := range servers {
				one.Order = append(one.Order, s.role)
			}
			if err := r.keep(ctx, f, row.name, one, err); err != nil {
				return err
			}
		}
	}
	r.proof.collect(ctx, f, did)
	return nil
}

// made are the calls of the load client in a round.
type made struct {
	calls, refused, limited int            // at the gateway: with a good key, a wrong one, one whose rate is used up
	duties                  map[duties]int // at the gateways with these on
}

func (m *made) count(c benchCase, calls map[role]int) {
	switch n := calls[gateway]; {
	case c.wrong:
		m.refused += n
	case c.spent:
		m.limited += n
	default:
		m.calls += n
	}
	m.duties[c.duties] += calls[gatewayOn]
}

// serversOf are the servers that a case compares; none is started twice in a round.
func (f *fleet) serversOf(ctx context.Context, c benchCase) ([]*server, error) {
	servers := slices.Clone(f.servers)
	if c.proxied {
		servers = slices.DeleteFunc(servers, func(s *server) bool { return s.role == direct })
	}
	if c.duties == 0 {
		return servers, nil
	}
	on, err := f.withDuties(ctx, c.duties)
	return append(servers, on), err
}

// keep stores the result of a case, or its failure err. An error means that the round cannot
// continue.
func (r *runner) keep(ctx context.Context, f *fleet, name string, one round, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if dead := f.alive(); dead != nil {
		return dead
	}
	if err != nil {
		r.failures[name] = err
		fmt.Fprintf(r.progress, "case %s failed: %v\n", name, err)
		return nil
	}
	r.rounds[name] = append(r.rounds[name], one)
	return nil
}

// rotate returns the servers in the order of the nth position, so that no server is always first or
// always after the same other one.
func rotate[S any](servers []S, n int) []S {
	k := n % len(servers)
	return append(append([]S{}, servers[k:]...), servers[:k]...)
}

// ratioTo is the ratio that the goal of the case bounds, if base is the proxy.
func (c benchCase) ratioTo(f map[role]figures, base role) float64 {
	value := func(s role) float64 {
		switch c.metric {
		case addedP50:
			return f[s].P50 - f[direct].P50
		case tripP50:
			return f[s].P50
		case tripP99:
			return f[s].P99
		case kibPerOne:
			return f[s].Held
		}
		return f[s].CPU
	}
	return ratio(value(c.measured()), value(base))
}

// measured is the role that the case is about.
func (c benchCase) measured() role {
	if c.duties != 0 {
		return gatewayOn
	}
	return gateway
}

func finite(v float64) *float64 {
	if notFinite(v) {
		return nil
	}
	return &v
}
