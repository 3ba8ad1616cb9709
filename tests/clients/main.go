//go:build linux

// Command clients drives real coding clients through a built gateway: Codex,
// opencode and a program of the OpenAI Agents SDK.
//
//	go run ./tests/clients -caddy ./caddy -codex PATH -opencode PATH -python PYTHON [-only REGEXP] [-results FILE] [-v]
//
// It starts the fake provider and the gateway before it. Each scenario is a run
// of one client, with a gateway key of its own, a home and a folder to work in;
// what the client shows, what the provider received, what the gateway was asked
// and what its activity says is checked. Everything is on the loopback, with its
// data in a temporary folder, and ended at the end. A client that is not
// installed fails: there is no skipping. -results appends a line
// "name TAB passed TAB failed TAB seconds" for each client.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.StringVar(&o.caddy, "caddy", "./caddy", "the gateway")
	flag.StringVar(&o.codex, "codex", "", "the Codex CLI")
	flag.StringVar(&o.opencode, "opencode", "", "opencode")
	flag.StringVar(&o.python, "python", "", "a Python that has tests/clients/agents/requirements.txt")
	flag.StringVar(&o.sources, "sources", "tests/clients", "the folder of this command")
	flag.StringVar(&o.results, "results", "", "append the counts to this file")
	flag.BoolVar(&o.verbose, "v", false, "show every check and what the provider received")
	only := flag.String("only", "", "run the scenarios whose name, CLIENT/SCENARIO, matches")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, path := range []*string{&o.codex, &o.opencode, &o.python, &o.sources} {
		// Each client runs in a folder of its own.
		if abs, err := filepath.Abs(*path); err == nil && *path != "" {
			*path = abs
		}
	}
	var err error
	ok := false
	if o.only, err = regexp.Compile(*only); err == nil {
		ok, err = o.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

type options struct {
	programs
	caddy, results string
	only           *regexp.Regexp
	verbose        bool
}

// programs are the clients, and where the files of this suite are. Empty means
// not there.
type programs struct {
	codex, opencode, python, sources string
}

// run drives all scenarios that match.
func (o options) run(ctx context.Context) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "gatehouse-clients-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	clients := clientsOf(o.programs)
	var keys []key
	for i := range clients {
		c := &clients[i]
		c.choose(o.only)
		for _, s := range c.scenarios {
			keys = append(keys, s.gatewayKey(c.name))
		}
	}
	g, err := startGateway(ctx, o.caddy, dir, keys)
	if err != nil {
		return false, err
	}
	defer g.stop()
	ok = true
	for _, c := range clients {
		if len(c.scenarios) == 0 {
			continue
		}
		r := o.drive(ctx, c, g, filepath.Join(dir, c.name))
		fmt.Println(r)
		if o.results != "" {
			if err := r.appendTo(o.results); err != nil {
				return false, err
			}
		}
		ok = ok && r.failed == 0
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	if !ok {
		g.ShowLog(os.Stdout)
	}
	return ok, nil
}

// drive runs the scenarios of c one after another.
func (o options) drive(ctx context.Context, c client, g *gateway, dir string) *result {
	began := time.Now()
	r := &result{name: c.name + "-" + c.version}
	defer func() { r.took = time.Since(began) }()
	if c.missing != "" {
		fmt.Printf("client %s cannot run: %s\n", r.name, c.missing)
		r.failed = 1
		return r
	}
	for _, s := range c.scenarios {
		before := r.failed
		seen, err := g.observe(ctx, c, s, filepath.Join(dir, s.name))
		if err == nil {
			s.judge(r, seen)
		} else {
			r.check(s.name, "runs", err)
		}
		if failed := r.failed > before; failed || o.verbose {
			fmt.Print(r.report())
			fmt.Print(seen.describe(failed))
		}
		r.lines = nil
	}
	return r
}
