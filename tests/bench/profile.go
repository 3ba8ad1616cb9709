//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// maxProfile is the longest profile: Caddy's admin endpoint must answer within ioTimeout.
const maxProfile = 20 * time.Second

// profiles are the pages of Caddy's admin endpoint that are read, by the name of the file; each
// covers that many seconds.
var profiles = map[string]string{"cpu": "/debug/pprof/profile", "allocs": "/debug/pprof/allocs"}

// profile loads each server that has profiles once more and writes where its time and its
// allocations went, to <folder>/<name>-<role>.<kind>.pprof; a later round overwrites it. The figures
// of the case of that name were taken before.
func (r *runner) profile(ctx context.Context, name string, sessions []*session) error {
	d := min(max(r.opts.Time.Round(time.Second), time.Second), maxProfile)
	for _, s := range sessions {
		if s.server.admin == "" {
			continue
		}
		taken, err := s.profile(ctx, d)
		if err != nil {
			return fmt.Errorf("%s: profiling: %w", s.server.role, err)
		}
		if err := r.writeProfiles(name, s.server.role, taken); err != nil {
			return err
		}
	}
	return nil
}

// held are the pages that show what idle sessions hold, by the name of the file.
var held = map[string]string{"heap": "/debug/pprof/heap?gc=1", "goroutine": "/debug/pprof/goroutine"}

// profileHeld writes what a server holds while its sessions are idle.
func (r *runner) profileHeld(ctx context.Context, name string, s *server) error {
	taken := map[string][]byte{}
	for kind, path := range held {
		page, err := s.adminGet(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: profiling: %w", s.role, err)
		}
		taken[kind] = page
	}
	return r.writeProfiles(name, s.role, taken)
}

func (r *runner) writeProfiles(name string, which role, taken map[string][]byte) error {
	for kind, page := range taken {
		path := filepath.Join(r.opts.Profile, fmt.Sprintf("%s-%s.%s.pprof", name, which, kind))
		if err := os.WriteFile(path, page, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// profile drives the server for d and returns the profiles of that time by kind.
func (s *session) profile(ctx context.Context, d time.Duration) (map[string][]byte, error) {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex // guards the following
		taken = map[string][]byte{}
		errs  []error
	)
	for kind, path := range profiles {
		wg.Go(func() { // ends with adminGet, which is bounded
			page, err := s.server.adminGet(ctx, fmt.Sprintf("%s?seconds=%d", path, int(d.Seconds())))
			mu.Lock()
			defer mu.Unlock()
			taken[kind] = page
			errs = append(errs, err)
		})
	}
	t, err := s.drive(ctx, d)
	s.made += t.calls
	wg.Wait()
	return taken, errors.Join(append(errs, err)...)
}
