//go:build linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// capacityRun is one measurement. CPU is in seconds, by part; the gateways are one.
type capacityRun struct {
	Kind     string             `json:"kind"`
	Mix      string             `json:"mix,omitempty"`
	Gateways int                `json:"gateways"`
	Alone    bool               `json:"alone,omitempty"` // without engines
	Cores    placement          `json:"cores"`
	Conns    int                `json:"conns,omitempty"` // of the client
	Seconds  float64            `json:"seconds"`
	Calls    int                `json:"calls"`
	CPU      map[string]float64 `json:"cpu"`
	Written  float64            `json:"written"` // bytes of PostgreSQL's log
	P50      float64            `json:"p50_us"`
	P99      float64            `json:"p99_us"`
	Other    float64            `json:"other"` // cores that other programs used
}

// capacitySite are gateways that run at a placement.
type capacitySite struct {
	ctx      context.Context
	c        *capacity
	o        options
	at       placement
	engines  *clustertest.Engines // nil: one gateway alone
	progress io.Writer

	fleet    *fleet
	gateways []*server
	pids     map[string][]int // roots of the parts
	made     int              // calls
	db       *sql.DB
}

// run starts gateways, pins everything, and ends the gateways when do returns.
func (s *capacitySite) run(do func() error) (err error) {
	s.o.GOMAXPROCS = 1 // as where costs are measured
	if s.fleet, err = newFleet(s.o); err != nil {
		return err
	}
	defer s.fleet.close()
	if err := s.fleet.startUpstream(s.ctx); err != nil {
		return err
	}
	s.pids = map[string][]int{clientPart: {os.Getpid()}, providerPart: {s.fleet.upstream.proc.PID()}}
	for n := 1; s.at[fmt.Sprintf("gateway%d", n)] != ""; n++ {
		part := fmt.Sprintf("gateway%d", n)
		g, err := s.fleet.startClusterGateway(s.ctx, role(part), s.engines)
		if err != nil {
			return err
		}
		s.gateways = append(s.gateways, g)
		s.pids[part] = []int{g.proc.PID()}
	}
	if s.engines != nil {
		if s.pids[enginePart], s.pids[postgresPart], err = enginePIDs(s.engines); err != nil {
			return err
		}
		if s.db, err = sql.Open("pgx", s.engines.DSN); err != nil {
			return err
		}
		defer s.db.Close()
	}
	for part, roots := range s.pids {
		for _, root := range roots {
			if err := pinTree(root, s.at[part], part != clientPart); err != nil {
				return err
			}
		}
	}
	runtime.GOMAXPROCS(1)
	return do()
}

// idle measures what is used without calls.
func (s *capacitySite) idle() error {
	m, err := readMemory(s.gateways[0].proc.PID())
	if err != nil {
		return err
	}
	s.c.Figures["MiB a gateway without load"] = float64(m.RSS) / kib
	return s.measure(capacityRun{Kind: idleRun}, 1, func() (tally, error) { return tally{elapsed: idleTime}, sleep(s.ctx, idleTime) })
}

// costs measures each mix at loads that saturate nothing: single, from one connection, and busy.
func (s *capacitySite) costs(all []mix) error {
	return errors.Join(s.idle(), s.each("single", all, func(conns []*conn, l load) (tally, error) {
		return closedLoop(s.ctx, conns[:1], l, s.o.Time)
	}), s.busy(all), s.rowSize())
}

// busy measures each mix from many connections, with a pause as long behind each burst: nothing is
// saturated, but a part takes several calls at a wake-up, and so less for each.
func (s *capacitySite) busy(all []mix) error {
	return s.each("busy", all, func(conns []*conn, l load) (all tally, err error) {
		began := time.Now()
		for time.Since(began) < 2*s.o.Time && err == nil {
			var t tally
			if t, err = closedLoop(s.ctx, conns, l, burst); err == nil {
				all.calls, all.latencies = all.calls+t.calls, append(all.latencies, t.latencies...)
				err = sleep(s.ctx, burst)
			}
		}
		slices.Sort(all.latencies)
		all.elapsed = time.Since(began)
		return all, err
	})
}

// rowSize is what a row takes in the database of a gateway alone.
func (s *capacitySite) rowSize() error {
	if s.engines != nil {
		return nil
	}
	file, err := os.Stat(filepath.Join(s.gateways[0].dir, "data", "gatehouse.db"))
	if err == nil {
		s.c.Figures["bytes a row in SQLite"] = float64(file.Size()) / float64(s.made)
	}
	return err
}

// points measures each mix at saturation.
func (s *capacitySite) points(all []mix) error {
	return s.each(pointRun, all, func(conns []*conn, l load) (tally, error) { return closedLoop(s.ctx, conns, l, s.o.Time) })
}

// each measures each mix, after some calls that do not count.
func (s *capacitySite) each(kind string, all []mix, calls func([]*conn, load) (tally, error)) error {
	for _, m := range all {
		l, conns, err := s.load(m)
		if err != nil {
			return err
		}
		defer closeAll(conns)
		t, err := closedLoop(s.ctx, conns, l, s.o.Time/4)
		if err != nil {
			return err
		}
		s.made += t.calls
		if err := s.measure(capacityRun{Kind: kind, Mix: m.name, Conns: len(conns)}, 1, func() (tally, error) { return calls(conns, l) }); err != nil {
			return err
		}
	}
	return nil
}

// load is a mix as calls of all gateways in turn, or of the provider.
func (s *capacitySite) load(m mix) (load, []*conn, error) {
	model, check := modelWhole, check(checkWhole)
	if m.stream {
		model, check = modelCoalesced, checkChatStream(coalescedEvents, false)
	}
	body, err := chatBody(providerPrefix+model, m.stream, m.size, s.o.Prompt)
	if err != nil {
		return load{}, nil, err
	}
	key, answered, servers := s.fleet.secrets.spent, providerPrefix+model, s.gateways
	if len(servers) == 0 {
		answered, servers = modelWhole, []*server{s.fleet.upstream}
	}
	if m.limits {
		key = s.fleet.secrets.gateway
	}
	conns := make([]*conn, capacityConns)
	for i := range conns {
		conns[i] = newConn(servers[i%len(servers)].addr)
	}
	return load{request: encode(servers[0].addr, chatPath, key, body), sent: len(body), check: check, model: answered}, conns, nil
}

func (s *capacitySite) measure(r capacityRun, try int, calls func() (tally, error)) error {
	r.Gateways, r.Alone, r.Cores = len(s.gateways), s.engines == nil, s.at
	before, err := s.read()
	if err != nil {
		return err
	}
	began := time.Now()
	t, err := calls()
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Kind, r.Mix, err)
	}
	s.made += t.calls
	if err := sleep(s.ctx, settleTime); err != nil {
		return err
	}
	after, err := s.read()
	if err != nil {
		return err
	}
	r.Seconds, r.Calls, r.CPU = t.elapsed.Seconds(), t.calls, map[string]float64{}
	ours := 0.0
	for part, seconds := range after.cpu {
		r.CPU[part] = seconds - before.cpu[part]
		ours += r.CPU[part]
	}
	r.Other = (after.busy - before.busy - ours) / time.Since(began).Seconds()
	r.Written = after.written - before.written
	if t.calls > 0 {
		r.P50, r.P99 = micros(percentile(t.latencies, 50)), micros(percentile(t.latencies, 99))
	}
	if r.Kind == pointRun && r.Other > quietMachine && try < pointTries {
		fmt.Fprintf(s.progress, "other programs used %.2f cores: again\n", r.Other)
		return s.measure(r, try+1, calls)
	}
	s.c.Runs = append(s.c.Runs, r)
	fmt.Fprintf(s.progress, "%-6s %d gateways, %-28s %6.0f calls/s, other programs %.2f cores; us a call:", r.Kind, r.Gateways, r.Mix, float64(r.Calls)/r.Seconds, r.Other)
	for _, part := range []string{gatewayPart, enginePart, postgresPart, providerPart, clientPart} {
		fmt.Fprintf(s.progress, " %s %.0f", part, r.CPU[part]*1e6/max(1, float64(r.Calls)))
	}
	fmt.Fprintln(s.progress)
	return nil
}
