//go:build linux

package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"os/exec"
	"slices"
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

func browserSuite() suite {
	s := suite{
		name: browserCase, servers: browserServers(), round: atOnce(measureBrowser),
		head: says("desktop in a browser: frames through one WebSocket over TLS; bare-ws (the library and io.Copy alone), gateway (its console), websockify where it is installed; " +
			"every frame checked at its viewer; ratio of the gateway to bare-ws, and to websockify; us a MB are ms a GB"),
		rows: []row{
			{browserCase, "MB", cpuPerOp, goal{}, cpuRatio(gateway, bareSocket), ""},
			{browserCase + "-websockify", "MB", cpuPerOp, goal{}, cpuRatio(gateway, websockify), browserCase},
		},
	}
	if !slices.Contains(s.servers, websockify) {
		s.rows = s.rows[:1]
	}
	return s
}

// measureBrowser opens one desktop at each server and loads them in turns.
func measureBrowser(ctx context.Context, r *runner, base *fleet, n int) (map[role]figures, error) {
	f := &vncFleet{fleet: base, frame: newFrame()}
	defer func() { closeDesktops(f.all) }()
	sum := crc32.Checksum(f.frame, castagnoli)
	var sessions []*session
	var servers []*vncServer
	var before []counts
	for _, which := range rotate(browserServers(), n) {
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
