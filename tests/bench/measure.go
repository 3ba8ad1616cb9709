//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

const (
	// settleTime lets a server finish its work after an answer (its last flush, a group commit)
	// before its CPU time is read: that work belongs to the calls.
	settleTime = 100 * time.Millisecond
	// holdTime is how long held streams are idle before memory is read.
	holdTime = 500 * time.Millisecond
	// heldWarmUp is the number of calls or sessions before the measurement.
	heldWarmUp = 20
)

// measure loads the servers with one case, slice by slice in turn. made has the calls at each,
// including the warm-up.
func (r *runner) measure(ctx context.Context, f *fleet, servers []*server, c benchCase) (got map[role]figures, made map[role]int, err error) {
	got, made = map[role]figures{}, map[role]int{}
	if c.shape == idle {
		for _, s := range servers {
			if got[s.role], err = r.measureHeld(ctx, f, s.role, c); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", s.role, err)
			}
		}
		return got, made, nil
	}
	sessions := make([]*session, len(servers))
	for i, s := range servers {
		l, err := c.load(s, f.secrets, r.opts.Prompt)
		if err != nil {
			return nil, nil, err
		}
		conns := c.dialers(f, s)
		defer closeAll(conns)
		sessions[i] = &session{server: s, settle: r.settle, drive: func(ctx context.Context, d time.Duration) (tally, error) {
			if c.shape == open {
				return fixedRate(ctx, conns, l, cmp.Or(c.rate, r.opts.Rate), d)
			}
			return closedLoop(ctx, conns, l, d)
		}}
	}
	defer func() {
		for _, s := range sessions {
			made[s.server.role] = s.made
		}
	}()
	got, err = alternate(ctx, sessions, r.opts.Time, c.slice, float64(c.units))
	return got, made, err
}

// alternate warms every session up, loads them in turn for about slice until each was loaded for d,
// and sums up. units is the number of units in one call.
func alternate(ctx context.Context, sessions []*session, d, slice time.Duration, units float64) (map[role]figures, error) {
	for _, s := range sessions {
		if err := s.warmUp(ctx, d/4); err != nil {
			return nil, fmt.Errorf("%s: warming up: %w", s.server.role, err)
		}
	}
	turns := max(1, int(d/slice))
	for n := range turns {
		for i := range sessions {
			s := sessions[(n+i)%len(sessions)]
			if err := s.slice(ctx, d/time.Duration(turns)); err != nil {
				return nil, fmt.Errorf("%s: %w", s.server.role, err)
			}
		}
	}
	got := map[role]figures{}
	for _, s := range sessions {
		var err error
		if got[s.server.role], err = s.figures(units); err != nil {
			return nil, fmt.Errorf("%s: %w", s.server.role, err)
		}
	}
	return got, nil
}

// session is one server's part in one case of one round. Its connections and the server's caches
// stay warm while another server is loaded.
type session struct {
	server *server
	drive  func(context.Context, time.Duration) (tally, error) // loads it for that long
	settle time.Duration
	tree   bool // the server's other processes count too

	made      int // calls, including the warm-up
	calls     int
	latencies []time.Duration
	elapsed   time.Duration
	cpu       time.Duration
}

func (s *session) warmUp(ctx context.Context, d time.Duration) error {
	t, err := s.drive(ctx, d)
	s.made += t.calls
	if err != nil {
		return err
	}
	// If the kernel does not allow it, the peak is that of the largest case so far, the same for
	// every server.
	_ = resetPeak(s.server.proc.PID())
	return sleep(ctx, s.settle)
}

func (s *session) slice(ctx context.Context, d time.Duration) error {
	before, err := s.cpuTime()
	if err != nil {
		return err
	}
	t, err := s.drive(ctx, d)
	s.made += t.calls
	if err != nil {
		return err
	}
	if err := sleep(ctx, s.settle); err != nil {
		return err
	}
	after, err := s.cpuTime()
	if err != nil {
		return err
	}
	s.calls += t.calls
	s.latencies = append(s.latencies, t.latencies...)
	s.elapsed += t.elapsed
	s.cpu += after - before
	return nil
}

// figures sums the slices up. units is the number of units in one call.
func (s *session) figures(units float64) (figures, error) {
	m, err := s.memory()
	if err != nil {
		return figures{}, err
	}
	slices.Sort(s.latencies)
	return figures{
		Calls:     s.calls,
		CPU:       micros(s.cpu) / (float64(s.calls) * units),
		Ticks:     int(s.cpu / tickLength()),
		P50:       micros(percentile(s.latencies, 50)),
		P99:       micros(percentile(s.latencies, 99)),
		PerSecond: float64(s.calls) / s.elapsed.Seconds(),
		RSS:       float64(m.RSS) / kib,
		Peak:      float64(m.Peak) / kib,
	}, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// measureHeld starts another server of that role, because memory that earlier cases left in the
// heap would hide the streams. It reads how much the server's anonymous memory grows.
func (r *runner) measureHeld(ctx context.Context, f *fleet, which role, c benchCase) (fig figures, err error) {
	s, err := f.startCaddy(ctx, which, 0)
	if err != nil {
		return fig, err
	}
	defer s.proc.Stop()
	l, err := c.load(s, f.secrets, r.opts.Prompt)
	if err != nil {
		return fig, err
	}
	conns := newConns(r.opts.Held, s.addr)
	defer closeAll(conns)
	return s.growth(ctx, len(conns), func() error {
		for range heldWarmUp {
			if err := s.ready(ctx, f.secrets.gateway); err != nil {
				return err
			}
		}
		warm := newConns(openers, s.addr)
		defer closeAll(warm)
		return hold(ctx, warm, l)
	}, func() error { return hold(ctx, conns, l) })
}

// growth is how much the anonymous memory of a server grows when n streams or sessions are opened.
// WarmUp comes before, to load code and fill pools.
func (s *server) growth(ctx context.Context, n int, warmUp, open func() error) (fig figures, err error) {
	if err := warmUp(); err != nil {
		return fig, err
	}
	if err := sleep(ctx, holdTime); err != nil {
		return fig, err
	}
	if err := s.collectGarbage(ctx); err != nil {
		return fig, err
	}
	before, err := readMemory(s.proc.PID())
	if err != nil {
		return fig, err
	}
	if err := open(); err != nil {
		return fig, err
	}
	if err := sleep(ctx, holdTime); err != nil {
		return fig, err
	}
	after, err := readMemory(s.proc.PID())
	if err != nil {
		return fig, err
	}
	return figures{
		Calls: n,
		Held:  (float64(after.Anon) - float64(before.Anon)) / float64(n),
		RSS:   float64(after.RSS) / kib,
		Peak:  float64(after.Peak) / kib,
	}, nil
}
