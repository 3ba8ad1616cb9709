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

// round measures the suites one after the other: the servers of one do not run beside those of another.
func (r *runner) round(ctx context.Context, n int) error {
	for i := range r.suites {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.suites[i].round(ctx, r, &r.suites[i], n); err != nil {
			return err
		}
	}
	return nil
}

// modelCalls is the suite of model calls, through the gateway and servers beside it.
const modelCalls = "calls"

func modelSuite() suite {
	s := suite{name: modelCalls, servers: modelServers, round: modelRound}
	for _, c := range allCases() {
		s.rows = append(s.rows, c.rows()...)
	}
	return s
}

func modelRound(ctx context.Context, r *runner, s *suite, n int) error {
	f, err := startFleet(ctx, r.opts)
	if err != nil {
		return err
	}
	defer f.close()
	did := made{duties: map[duties]int{}}
	err = r.eachCase(s, n, func(i int, rows []row) error {
		c := caseOf(rows[0])
		servers, err := f.serversOf(ctx, c)
		if err != nil {
			return err
		}
		servers = rotate(servers, n+i)
		got, calls, err := r.measure(ctx, f, servers, c)
		did.count(c, calls)
		return r.keep(ctx, f, s, rows, rolesOf(servers), got, err)
	})
	if err == nil {
		r.proof.collect(ctx, f, did)
	}
	return err
}

// eachCase calls measure with the rows of each case that has not failed.
func (r *runner) eachCase(s *suite, n int, measure func(i int, rows []row) error) error {
	for i := 0; i < len(s.rows); {
		rows := s.rows[i : i+1]
		for end := i + 1; end < len(s.rows) && s.rows[end].of == rows[0].name; end++ {
			rows = s.rows[i : end+1]
		}
		if r.failures[rows[0].name] == nil {
			fmt.Fprintf(r.progress, "round %d/%d %s\n", n+1, r.opts.Rounds, rows[0].name)
			if err := measure(i, rows); err != nil {
				return err
			}
		}
		i += len(rows)
	}
	return nil
}

func rolesOf(servers []*server) (all []role) {
	for _, s := range servers {
		all = append(all, s.role)
	}
	return all
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

// keep stores what a case of these rows got, or its failure err. An error means that the round cannot
// continue.
func (r *runner) keep(ctx context.Context, f *fleet, s *suite, rows []row, order []role, got map[role]figures, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if dead := f.alive(); dead != nil {
		return dead
	}
	for _, w := range rows {
		if err != nil {
			r.failures[w.name] = err
			fmt.Fprintf(r.progress, "case %s failed: %v\n", w.name, err)
			continue
		}
		one := round{Order: order, Figures: got, Ratio: finite(w.value(got))}
		if s.name == modelCalls && caseOf(w).duties != 0 {
			one.ToOff = finite(caseOf(w).ratioTo(got, gateway))
		}
		r.rounds[w.name] = append(r.rounds[w.name], one)
	}
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
