//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"syscall"
	"time"
)

// vncRound measures every VNC case once.
func vncRound(ctx context.Context, r *runner, s *suite, n int) error {
	f, err := startVNCFleet(ctx, r.opts)
	if err != nil {
		return err
	}
	defer f.close()
	cases := allVNCCases()
	err = r.eachCase(s, n, func(i int, rows []row) error {
		c := cases[slices.IndexFunc(cases, func(c vncCase) bool { return c.name == rows[0].name })]
		servers := rotate(f.desktops, n+i)
		got, err := measureVNC(ctx, r, f, servers, c)
		order := make([]role, len(servers))
		for i, s := range servers {
			order[i] = s.role
		}
		return r.keep(ctx, f.fleet, s, rows, order, got, err)
	})
	r.vncProof.collect(f)
	return err
}

// measureVNC loads the servers with one case, slice by slice in turn, and then compares what the
// viewers received with what the desktops sent.
func measureVNC(ctx context.Context, r *runner, f *vncFleet, servers []*vncServer, c vncCase) (map[role]figures, error) {
	if c.load == resting {
		got := map[role]figures{}
		for _, s := range servers {
			var err error
			if got[s.role], err = measureIdle(ctx, r, f, s.role); err != nil {
				return nil, fmt.Errorf("%s: %w", s.role, err)
			}
		}
		return got, nil
	}
	sessions := make([]*session, len(servers))
	before := make([]counts, len(servers))
	for i, s := range servers {
		drive, end, err := vncDriver(ctx, r, f, s, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.role, err)
		}
		defer end()
		before[i] = s.desktop.counts()
		sessions[i] = &session{server: s.server, settle: r.settle, drive: drive}
	}
	got, err := alternate(ctx, sessions, r.opts.Time, vncSlice, c.units)
	if err != nil {
		for _, s := range servers { // one may explain it
			err = errors.Join(err, s.desktop.complaint())
		}
		return nil, err
	}
	for i, s := range servers {
		if err := s.did(before[i], c.work(sessions[i].made)); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// work is what the calls of this case cause at a desktop.
func (c vncCase) work(calls int) counts {
	n := int64(calls)
	switch c.load {
	case bulk:
		return counts{sent: n * framesPerCall * frameLen}
	case pointer:
		return counts{echoes: n}
	}
	return counts{sessions: n}
}

// did checks that the desktop did exactly what the viewers counted.
func (s *vncServer) did(before, want counts) error {
	if err := s.desktop.complaint(); err != nil {
		return fmt.Errorf("%s: %w", s.role, err)
	}
	if got := s.desktop.counts().minus(before); got != want {
		return fmt.Errorf("%s: the desktop had %+v, its viewers %+v", s.role, got, want)
	}
	return nil
}

// vncDriver opens what the case needs at one server and returns the function that loads it. end
// closes what was opened.
func vncDriver(ctx context.Context, r *runner, f *vncFleet, s *vncServer, c vncCase) (drive func(context.Context, time.Duration) (tally, error), end func(), err error) {
	d, err := f.endpoint(ctx, s, c.vencrypt)
	if err != nil {
		return nil, nil, err
	}
	if c.load == connect {
		return func(ctx context.Context, t time.Duration) (tally, error) {
			return again(ctx, make([]struct{}, c.viewers), 0, t, func(ctx context.Context, _ struct{}) (time.Duration, error) {
				begun := time.Now()
				v, err := d.view(ctx)
				if err != nil {
					return 0, err
				}
				v.close()
				return time.Since(begun), r.vncProof.sameTLS(s.role, v.state)
			})
		}, func() {}, nil
	}

	viewers := make([]*viewer, 0, c.viewers)
	end = func() {
		for _, v := range viewers {
			v.close()
		}
	}
	for range c.viewers {
		v, err := d.view(ctx)
		if err != nil {
			end()
			return nil, nil, err
		}
		viewers = append(viewers, v)
		if err := errors.Join(v.begin(), r.vncProof.sameTLS(s.role, v.state)); err != nil {
			end()
			return nil, nil, err
		}
	}
	sum := crc32.Checksum(f.frame, castagnoli)
	return func(ctx context.Context, t time.Duration) (tally, error) {
		return again(ctx, viewers, 0, t, func(ctx context.Context, v *viewer) (time.Duration, error) {
			begun := time.Now()
			var err error
			if c.load == bulk {
				err = v.pull(ctx, framesPerCall, sum)
			} else {
				err = v.point(ctx)
			}
			return time.Since(begun), err
		})
	}, end, nil
}

// reservedFiles is the number of files that this process has open besides two sockets a session.
const reservedFiles = 200

// measureIdle starts another server of that role and reads how much its anonymous memory grows with
// sessions in which a pointer has moved once.
func measureIdle(ctx context.Context, r *runner, f *vncFleet, which role) (fig figures, err error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return fig, err
	}
	if need := uint64(2*r.opts.Sessions + reservedFiles); files.Cur < need {
		return fig, fmt.Errorf("%d sessions need %d open files, %d are allowed", r.opts.Sessions, need, files.Cur)
	}
	s, err := f.start(ctx, which)
	if err != nil {
		return fig, err
	}
	defer s.proc.Stop()
	d, err := f.endpoint(ctx, s, false)
	if err != nil {
		return fig, err
	}
	var had counts
	viewers := make([]*viewer, r.opts.Sessions)
	defer closeViewers(viewers)
	fig, err = s.growth(ctx, len(viewers), func() error {
		warm := make([]*viewer, heldWarmUp)
		defer closeViewers(warm)
		return rest(ctx, d, warm)
	}, func() error {
		had = s.desktop.counts()
		return rest(ctx, d, viewers)
	})
	if err != nil {
		return fig, err
	}
	// An ended session uses no memory: every one must still be alive.
	if err := eachOnce(ctx, len(viewers), func(ctx context.Context, n int) error { return viewers[n].point(ctx) }); err != nil {
		return fig, fmt.Errorf("after the rest: %w", err)
	}
	n := int64(len(viewers))
	return fig, s.did(had, counts{sessions: n, echoes: 2 * n})
}

// rest opens sessions, moves a pointer in each, and leaves them idle. The caller must close the
// sessions even if it fails.
func rest(ctx context.Context, d vncEndpoint, viewers []*viewer) error {
	return eachOnce(ctx, len(viewers), func(ctx context.Context, i int) error {
		v, err := d.view(ctx)
		if err != nil {
			return fmt.Errorf("session %d: %w", i, err)
		}
		viewers[i] = v
		if err := v.begin(); err != nil {
			return err
		}
		return v.point(ctx)
	})
}

func closeViewers(viewers []*viewer) {
	for _, v := range viewers {
		if v != nil {
			v.close()
		}
	}
}
