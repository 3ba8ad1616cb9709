//go:build linux

package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"os/exec"
	"time"
)

// browserCase is the desktop in a browser: frames at full speed through one WebSocket over TLS, at the
// gateway's console, at a bare copy between WebSocket and TCP by the same library, and at websockify
// where that is installed.
const browserCase = "vnc-browser"

const (
	bareSocket role = "bare-ws"
	websockify role = "websockify"
)

// browserServers are the roles that can be measured here, in the order of the report.
func browserServers() []role {
	roles := []role{bareSocket, gateway}
	if _, err := exec.LookPath(string(websockify)); err == nil {
		roles = append(roles, websockify)
	}
	return roles
}

// browserRound measures the case once.
func (r *runner) browserRound(ctx context.Context, n int) error {
	if r.failures[browserCase] != nil {
		return nil
	}
	fmt.Fprintf(r.progress, "round %d/%d %s\n", n+1, r.opts.Rounds, browserCase)
	base, err := newFleet(r.opts)
	if err != nil {
		return err
	}
	f := &vncFleet{fleet: base, frame: newFrame()}
	defer f.close()
	if f.cert, err = newCertificate(f.dir); err != nil {
		return err
	}
	order := rotate(browserServers(), n)
	got, err := r.measureBrowser(ctx, f, order)
	one := round{Order: order, Figures: got, Ratio: finite(ratio(got[gateway].CPU, got[bareSocket].CPU))}
	return r.keep(ctx, f.fleet, browserCase, one, err)
}

// measureBrowser opens one desktop at each server and loads them in turns.
func (r *runner) measureBrowser(ctx context.Context, f *vncFleet, order []role) (map[role]figures, error) {
	sum := crc32.Checksum(f.frame, castagnoli)
	var sessions []*session
	var servers []*vncServer
	var before []counts
	for _, which := range order {
		s, v, err := f.startBrowser(ctx, which)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", which, err)
		}
		defer v.close()
		if err := v.begin(); err != nil {
			return nil, fmt.Errorf("%s: %w", which, err)
		}
		servers, before = append(servers, s), append(before, s.desktop.counts())
		sessions = append(sessions, &session{server: s.server, settle: r.settle, drive: func(ctx context.Context, d time.Duration) (tally, error) {
			return again(ctx, []*viewer{v}, 0, d, func(ctx context.Context, v *viewer) (time.Duration, error) {
				begun := time.Now()
				err := v.pull(ctx, framesPerCall, sum)
				return time.Since(begun), err
			})
		}})
	}
	got, err := alternate(ctx, sessions, r.opts.Time, vncSlice, framesPerCall*frameLen/megabyte)
	if err != nil {
		return nil, err
	}
	for i, s := range servers {
		if err := s.did(before[i], counts{sent: int64(sessions[i].made) * framesPerCall * frameLen}); err != nil {
			return nil, err
		}
	}
	return got, nil
}
