//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// pagesCase is what open pages of the console add to model calls: two gateways with a console under
// the same calls, of which one has 50 pages that are read again at their own pace. Its CPU
// includes that of the pages.
const pagesCase = "pages-open"

const withPages role = "gateway-50-pages"

var pagesServers = []role{gateway, withPages}

// pagesSlice has several polls.
const pagesSlice = time.Second

// consoleCaddyfile is the gateway with its console, and its data in a folder. The key that reads the
// activity sees all parts of the overview, and the calls of all tenants.
func consoleCaddyfile(s site, data string) string {
	return strings.NewReplacer(
		"\tgatehouse\n}", "\tgatehouse_console\n\tgatehouse\n}",
		"\tgatehouse {\n", fmt.Sprintf("\tgatehouse {\n\t\tdata_dir %q\n", data),
		"scopes activity:read\n", "scopes activity:read limits:read providers:read\n\t\t\tall_tenants\n",
	).Replace(gatewayCaddyfile(s, 0))
}

func pagesSuite() suite {
	return suite{
		name: pagesCase, servers: pagesServers, round: atOnce(measurePages),
		head: says("open pages: calls of 1 KB at a gateway with a console, and at one of whose console 25 overviews and 25 lists of calls are open; its CPU has that of the pages; ratio with pages / without"),
		rows: []row{{pagesCase, "request", cpuPerOp, goal{}, cpuRatio(withPages, gateway), ""}},
	}
}

// measurePages loads both gateways in turns.
func measurePages(ctx context.Context, r *runner, f *fleet, n int) (map[role]figures, error) {
	if err := f.startUpstream(ctx); err != nil {
		return nil, err
	}
	call := pagesCall()
	var sessions []*session
	for _, which := range rotate(pagesServers, n) {
		s, err := f.startWithConsole(ctx, which)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", which, err)
		}
		if which == withPages {
			p, err := openAll(ctx, s, f.secrets.audit)
			if err != nil {
				return nil, err
			}
			defer p.close()
			ctx = p.ctx
		}
		l, err := call.load(s, f.secrets, r.opts.Prompt)
		if err != nil {
			return nil, err
		}
		conns := newConns(call.conns, s.addr)
		defer closeAll(conns)
		sessions = append(sessions, &session{server: s, settle: r.settle, drive: func(ctx context.Context, d time.Duration) (tally, error) {
			return closedLoop(ctx, conns, l, d)
		}})
	}
	return alternate(ctx, sessions, r.opts.Time, pagesSlice, 1)
}

// pagesCall is the call of the smallest case.
func pagesCall() benchCase { return allCases()[0] }

// startWithConsole starts a gateway with its console.
func (f *fleet) startWithConsole(ctx context.Context, which role) (*server, error) {
	s, cfg, env, err := f.newServer(which, f.upstream)
	if err != nil {
		return nil, err
	}
	s.renames, s.guarded = true, s.addr
	data := filepath.Join(s.dir, "data")
	if f.opts.Rows != "" {
		if err := os.CopyFS(data, os.DirFS(f.opts.Rows)); err != nil {
			return nil, err
		}
	}
	if s.proc, err = f.runCaddy(string(which), s.dir, env, consoleCaddyfile(cfg, data)); err != nil {
		return nil, err
	}
	return s, s.proc.await(ctx, func() error { return s.ready(ctx, f.secrets.gateway) })
}
