//go:build linux

// Command clients drives real coding clients through a built gateway: Codex, opencode and a program
// of the OpenAI Agents SDK; and, as they are, the programs of docs/agents.md. Some fill in a form
// on a real desktop, whose VNC server (Xtigervnc) must be installed.
//
//	go run ./tests/clients -caddy ./caddy -codex PATH -opencode PATH -python PYTHON [-only REGEXP] [-results FILE] [-v]
//
// It starts the fake provider, and the gateway before it. Each scenario is a run of one client,
// with its own gateway key, home and working folder. It checks what the client shows, what the
// provider received, the requests to the gateway, and the activity. Everything is on the loopback,
// with its data in a temporary folder, and is ended at the end. A client that is not installed
// fails: there is no skipping. -results appends a line "name TAB passed TAB failed TAB seconds" for
// each client.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

func main() {
	var o options
	flag.StringVar(&o.codex, "codex", "", "the Codex CLI")
	flag.StringVar(&o.opencode, "opencode", "", "opencode")
	flag.StringVar(&o.python, "python", "", "a Python that has tests/clients/agents/requirements.txt")
	flag.StringVar(&o.sources, "sources", "tests/clients", "the folder of this command")
	flag.StringVar(&o.claude, "claude", "", "Claude Code")
	flag.StringVar(&o.aider, "aider", "", "aider")
	flag.StringVar(&o.libraries, "libraries", "", "a Python that has tests/clients/libraries.txt")
	flag.StringVar(&o.node, "node", "", "the folder with tests/clients/aisdk and its packages")
	flag.BoolVar(&o.more, "more", false, "run the clients that make test does not run")
	flag.BoolVar(&o.verbose, "v", false, "show every check and what the provider received")
	process.Main("clients", "scenarios (CLIENT/SCENARIO)", func(ctx context.Context, flags process.Options) (bool, error) {
		o.Options = flags
		for _, path := range []*string{&o.codex, &o.opencode, &o.claude, &o.python, &o.aider, &o.libraries, &o.node, &o.sources} {
			// Each client runs in its own folder.
			if abs, err := filepath.Abs(*path); err == nil && *path != "" {
				*path = abs
			}
		}
		return o.run(ctx)
	})
}

type options struct {
	process.Options
	programs
	more, verbose bool
}

// programs are the clients, and the folder of this suite. Empty means not there.
type programs struct {
	codex, opencode, claude, python, aider, libraries, node, sources string
}

// run drives all scenarios that match.
func (o options) run(ctx context.Context) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "gatehouse-clients-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	clients := slices.DeleteFunc(clientsOf(o.programs), func(c client) bool { return c.more != o.more })
	var keys []key
	var shown *desk
	sockets := false
	for i := range clients {
		c := &clients[i]
		c.choose(o.Only)
		for _, s := range c.scenarios {
			keys = append(keys, s.gatewayKey(c.name))
			sockets = sockets || s.sockets()
			if s.desktop() && shown == nil && c.missing == "" {
				if shown, err = openDesk(dir); err != nil {
					return false, err
				}
				defer shown.close()
			}
		}
	}
	g, err := startGateway(ctx, o.Caddy, dir, keys, shown, "")
	if err != nil {
		return false, err
	}
	defer g.stop()
	all := []*gateway{g}
	if sockets {
		with, err := startGateway(ctx, o.Caddy, filepath.Join(dir, "sockets"), keys, shown, "responses_websocket")
		if err != nil {
			return false, err
		}
		defer with.stop()
		all = append(all, with)
	}
	ok = true
	for _, c := range clients {
		if len(c.scenarios) == 0 {
			continue
		}
		r := o.drive(ctx, c, all, filepath.Join(dir, c.name))
		if err := r.Report(o.Results); err != nil {
			return false, err
		}
		ok = ok && r.Failed == 0
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	for _, g := range all {
		if !ok {
			g.ShowLog(os.Stdout)
		}
	}
	return ok, nil
}

// drive runs the scenarios of c one after another. The last gateway serves WebSockets.
func (o options) drive(ctx context.Context, c client, all []*gateway, dir string) *process.Result {
	began := time.Now()
	r := process.NewResult("client " + c.name + "-" + c.version)
	defer func() { r.Took = time.Since(began) }()
	if c.missing != "" {
		r.Missing(c.missing)
		return r
	}
	for _, s := range c.scenarios {
		before, g := r.Failed, all[0]
		if s.sockets() {
			g = all[len(all)-1]
		}
		seen, err := g.observe(ctx, c, s, filepath.Join(dir, s.name))
		if err == nil {
			s.judge(r, seen)
		} else {
			r.Check(s.name+": runs", err)
		}
		details := r.Details()
		if failed := r.Failed > before; failed || o.verbose {
			fmt.Println(details)
			fmt.Print(seen.describe(failed))
		}
	}
	return r
}
