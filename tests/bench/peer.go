//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// peer is another gateway that is measured beside ours, with -peers. make bench PEERS=1 installs
// them.
type peer struct {
	name     role
	version  string
	settings string // as measured
	does     string // in this run, and what it does not
	// command is what runs it on port, below the folder of the installed peers. It may write its
	// configuration into dir.
	command func(p peerRun) (path string, args, env []string, err error)
	key     func(s secrets) string // that clients send
	model   string                 // prefix of the model that they ask for
	headers func(upstream string) string
}

// peerRun is the input of a peer's command.
type peerRun struct {
	installed string // folder of all peers
	dir       string // of this process
	port      int
	upstream  string // host:port
	workers   int
}

// allPeers are in the order of the report.
func allPeers() []peer { return []peer{liteLLM(), portkey()} }

const (
	// peerStart is how long a peer may take until it answers: some load for half a minute.
	peerStart = 3 * time.Minute
	// peerWorkers is what all peers get that have worker processes: one for each core of the
	// project's machine.
	peerWorkers = 2
)

// startPeer starts a peer on the fleet's upstream; the fleet ends it.
func (f *fleet) startPeer(ctx context.Context, p peer) (*server, error) {
	name := fmt.Sprintf("%s-%d", p.name, len(f.started))
	env, dir, err := f.environment(name)
	if err != nil {
		return nil, err
	}
	ports, err := process.FreePorts(1)
	if err != nil {
		return nil, err
	}
	path, args, more, err := p.command(peerRun{f.opts.Peers, dir, ports[0], f.upstream.addr, peerWorkers})
	if err != nil {
		return nil, err
	}
	program, stdout, err := startProgram(name, dir, append(env, more...), path, args...)
	if err != nil {
		return nil, fmt.Errorf("%w; make bench PEERS=1 installs it", err)
	}
	f.started = append(f.started, program)
	go io.Copy(io.Discard, stdout) // ends with the program
	s := &server{role: p.name, proc: program, addr: fmt.Sprintf("127.0.0.1:%d", ports[0])}
	first, err := peerCases()[0].peerLoad(f, s, p)
	if err != nil {
		return nil, err
	}
	return s, process.Eventually(ctx, peerStart, func() error {
		if dead := program.alive(); dead != nil {
			return dead
		}
		c := newConn(s.addr)
		defer c.close()
		_, err := first.call(ctx, c, time.Now())
		return err
	})
}

// peerSuite compares other gateways with the plain reverse_proxy and this one.
func peerSuite() suite {
	s := suite{name: "peers", servers: []role{proxy, gateway}, round: peerRound}
	for _, p := range allPeers() {
		s.servers = append(s.servers, p.name)
	}
	for _, c := range peerCases() {
		of := ""
		for _, which := range s.servers[1:] {
			s.rows = append(s.rows, row{name: c.name + " " + string(which), unit: "call", metric: cpuPerOp, value: cpuRatio(which, proxy), of: of})
			of = c.name + " " + string(s.servers[1])
		}
	}
	s.head = func(*runner) []string {
		head := []string{
			"other gateways: one upstream, everything on one machine; CPU of all processes of a server for one call, memory of all of them (RSS) after it, shared pages count once; ratio to reverse_proxy",
			"gateway: its own defaults; checks a key and its scopes, renames the model, adds the provider's key, counts usage, one record, log line and count a call; limits, budgets and guardrails off",
		}
		for _, p := range allPeers() {
			head = append(head, fmt.Sprintf("%s: %s; %s; %s", p.name, p.version, p.settings, p.does))
		}
		return head
	}
	return s
}

func peerRound(ctx context.Context, r *runner, s *suite, n int) error {
	f, err := startFleet(ctx, r.opts)
	if err != nil {
		return err
	}
	defer f.close()
	servers := append([]*server{}, f.servers[1:]...) // without the upstream directly
	by := map[role]peer{}
	for _, p := range allPeers() {
		s, err := f.startPeer(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		servers, by[p.name] = append(servers, s), p
	}
	cases := peerCases()
	return r.eachCase(s, n, func(i int, rows []row) error {
		c := cases[i/len(rows)]
		var sessions []*session
		for _, s := range rotate(servers, n+i) {
			l, err := c.peerLoad(f, s, by[s.role])
			if err != nil {
				return err
			}
			conns := newConns(c.conns, s.addr)
			defer closeAll(conns)
			if _, err := l.call(ctx, conns[0], time.Now()); err != nil && by[s.role].name != "" {
				fmt.Fprintf(r.progress, "%s does not serve %s: %v\n", s.role, c.name, err)
				continue
			}
			sessions = append(sessions, &session{server: s, settle: r.settle, tree: true,
				drive: func(ctx context.Context, d time.Duration) (tally, error) { return closedLoop(ctx, conns, l, d) }})
		}
		got, err := alternate(ctx, sessions, r.opts.Time, peerSlice, 1)
		return r.keep(ctx, f, s, rows, s.servers, got, err)
	})
}

// peerSlice is longer than of other cases: a call of the slowest peer takes many milliseconds.
const peerSlice = time.Second

// writeFile writes a peer's file into its folder and returns the path.
func (p peerRun) writeFile(name, text string) (string, error) {
	path := filepath.Join(p.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}
