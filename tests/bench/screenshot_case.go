//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// screenshotCase is what an agent's look at the built-in desktop of 1280x720 costs the gateway, whose CPU
// has the part of that desktop too: a picture that must be encoded, beside one that the agent has.
const screenshotCase = "screenshot"

const (
	lookChanged   role = "look-changed"
	lookUnchanged role = "look-unchanged"
)

var lookServers = []role{lookChanged, lookUnchanged}

func screenshotSuite() suite {
	return suite{
		name: screenshotCase, servers: lookServers, round: atOnce(measureLooks),
		head: says("screenshots of 1280x720: each another part of the desktop, so that it is encoded; and one that the agent has, so that the answer is 304; ratio changed / unchanged"),
		rows: []row{{screenshotCase, "look", cpuPerOp, goal{}, cpuRatio(lookChanged, lookUnchanged), ""}},
	}
}

// automatedCaddyfile is the gateway with the built-in desktop, which its key may look at.
func automatedCaddyfile(s site) string {
	return strings.NewReplacer(
		"models:read mcp:call\n", "models:read mcp:call workstations:automate\n",
		"\t\tkey audit {\n", fmt.Sprintf("\t\tvnc {\n\t\t\tdomain %s\n\t\t\tautomation view\n\t\t\tworkstation %s {\n\t\t\t\ttest_card\n\t\t\t\ttenant %s\n\t\t\t}\n\t\t}\n\t\tkey audit {\n",
			vncDomain, benchWorkstation, benchTenant),
	).Replace(gatewayCaddyfile(s, 0))
}

// measureLooks loads both gateways in turns.
func measureLooks(ctx context.Context, r *runner, f *fleet, n int) (map[role]figures, error) {
	if err := f.startUpstream(ctx); err != nil {
		return nil, err
	}
	var sessions []*session
	for _, which := range rotate(lookServers, n) {
		s, cfg, env, err := f.newServer(which, f.upstream)
		if err != nil {
			return nil, err
		}
		s.renames, s.guarded = true, s.addr
		if s.proc, err = f.runCaddy(string(which), s.dir, env, automatedCaddyfile(cfg)); err != nil {
			return nil, err
		}
		if err := s.proc.await(ctx, func() error { return s.ready(ctx, f.secrets.gateway) }); err != nil {
			return nil, fmt.Errorf("%s: %w", which, err)
		}
		agents := []*looker{{conn: newConn(s.addr), host: s.addr, key: f.secrets.gateway, changed: which == lookChanged}}
		defer agents[0].conn.close()
		sessions = append(sessions, &session{server: s, settle: r.settle, drive: func(ctx context.Context, d time.Duration) (tally, error) {
			return again(ctx, agents, 0, d, func(ctx context.Context, a *looker) (time.Duration, error) { return a.look(ctx) })
		}})
	}
	return alternate(ctx, sessions, r.opts.Time, usualSlice, 1)
}

// looker is an agent that looks again and again.
type looker struct {
	conn      *conn
	host, key string
	changed   bool // each picture is another one
	looks     int
	etag      string // of the picture that it has
}

// look takes one picture. The lower part of the built-in desktop moves.
func (l *looker) look(ctx context.Context) (time.Duration, error) {
	l.looks++
	region, status := "0,0,1280,380", http.StatusOK
	if l.changed {
		region = fmt.Sprintf("0,0,1280,%d", 720-l.looks%2)
	} else if l.etag != "" {
		status = http.StatusNotModified
	}
	begun := time.Now()
	a, err := l.conn.do(ctx, fmt.Appendf(nil, "GET /v1/workstations/%s/screenshot?region=%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nIf-None-Match: %s\r\n\r\n",
		benchWorkstation, region, l.host, l.key, l.etag))
	took := time.Since(begun)
	switch {
	case err != nil:
		return 0, err
	case a.status != status:
		return 0, fmt.Errorf("status %d instead of %d: %q", a.status, status, shorten(a.body))
	case status == http.StatusOK && !bytes.HasPrefix(a.body, []byte("\x89PNG")):
		return 0, errors.New("the answer is no PNG")
	}
	l.etag = a.header.Get("ETag")
	return took, nil
}
