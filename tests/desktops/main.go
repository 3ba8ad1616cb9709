//go:build linux

// Command desktops is an agent at real desktops: it looks and acts through a built gateway at VNC servers
// of five kinds, and checks what arrives there.
//
//	go run ./tests/desktops -caddy ./caddy [-only REGEXP] [-results FILE] [-keep DIR] [-v]
//
// It starts Xtigervnc, x11vnc, QEMU with a program instead of a system, a program of libvncserver, and
// wayvnc at a headless compositor. Those that can show X programs show a form, which says exactly what was
// typed and clicked. Everything is on the loopback, with its data in a temporary folder, and is ended at
// the end. A server that is not installed fails: there is no skipping. -results appends a line "name TAB
// passed TAB failed TAB seconds" for each server.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// serverTimeout ends the checks of a server that hangs.
const serverTimeout = time.Minute

// programs are the programs from outside, as paths or names.
type programs struct {
	xvnc, x11vnc, xvfb, qemu, cc, source, sway, wayvnc string
}

type options struct {
	process.Options
	programs
	keep    string
	verbose bool
}

func main() {
	var o options
	p := &o.programs
	flag.StringVar(&p.xvnc, "xvnc", "Xtigervnc", "TigerVNC's server")
	flag.StringVar(&p.x11vnc, "x11vnc", "x11vnc", "x11vnc")
	flag.StringVar(&p.xvfb, "xvfb", "Xvfb", "the X server of x11vnc")
	flag.StringVar(&p.qemu, "qemu", "qemu-system-i386", "the virtual machine")
	flag.StringVar(&p.cc, "cc", "cc", "the compiler of C")
	flag.StringVar(&p.source, "libvncserver", "tests/desktops/testdata/server.c", "the program of libvncserver")
	flag.StringVar(&p.sway, "sway", "sway", "the compositor of wayvnc")
	flag.StringVar(&p.wayvnc, "wayvnc", "wayvnc", "wayvnc")
	flag.StringVar(&o.keep, "keep", "", "a folder for pictures that are not as they should be")
	flag.BoolVar(&o.verbose, "v", false, "show every check, not only those of a server that fails")
	process.Main("desktops", "servers", func(ctx context.Context, flags process.Options) (bool, error) {
		o.Options = flags
		return o.run(ctx)
	})
}

// run starts all servers that match, and then the gateway before them.
func (o options) run(ctx context.Context) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "gatehouse-desktops-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	started, failed := o.start(ctx, dir)
	for _, s := range started {
		defer s.stop()
	}
	g, err := startGateway(ctx, o.Caddy, filepath.Join(dir, "gateway"), started)
	if err != nil {
		return false, err
	}
	defer g.Stop()
	ok = true
	rows := make([]*process.Result, len(started))
	var group sync.WaitGroup
	for i, s := range started { // at once: most of it waits until a desktop has settled
		group.Go(func() { rows[i] = o.check(ctx, g, s) })
	}
	group.Wait()
	rows = append(rows, failed...)
	for _, s := range started { // last: the gateway then has all the desktops that it may have
		if s.crowded {
			rows = append(rows, o.recording(ctx, g, s))
			rows = append(rows, o.many(ctx, g, s))
		}
	}
	for _, r := range rows {
		if r.Failed > 0 || o.verbose {
			fmt.Println(r.Details())
		}
		if err := r.Report(o.Results); err != nil {
			return false, err
		}
		ok = ok && r.Failed == 0
	}
	if !ok {
		g.ShowLog(os.Stdout)
	}
	return ok, ctx.Err()
}

// start starts the servers, all at once. What does not start is a failed result.
func (o options) start(ctx context.Context, dir string) (started []*server, failed []*process.Result) {
	all, faults := make([]*server, len(servers)), make([]error, len(servers))
	var group sync.WaitGroup
	for i, kind := range servers {
		if !o.Only.MatchString(kind.name) {
			continue
		}
		group.Go(func() {
			dir := filepath.Join(dir, kind.name)
			if faults[i] = os.Mkdir(dir, 0o700); faults[i] == nil {
				all[i], faults[i] = kind.start(o.programs, ctx, dir)
			}
		})
	}
	group.Wait()
	for i, s := range all {
		switch {
		case faults[i] != nil:
			r := process.NewResult("desktop " + servers[i].name)
			r.Check("the server starts", faults[i])
			failed = append(failed, r)
		case s != nil:
			started = append(started, s)
		}
	}
	return started, failed
}

// check lets an agent use one server.
func (o options) check(ctx context.Context, g *gateway, s *server) *process.Result {
	began := time.Now()
	r := process.NewResult("desktop " + s.name)
	defer func() { r.Took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	a := &agent{r, &caller{gateway: g, workstation: s.name}, s, o.keep}
	for _, part := range parts {
		part(a, ctx)
	}
	return r
}
