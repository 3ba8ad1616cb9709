//go:build linux

// Command viewers drives real VNC viewers through a built gateway against real VNC servers, and
// checks what a person in front of them would see.
//
//	go run ./tests/viewers -caddy ./caddy [-only REGEXP] [-results FILE] [-cluster] [-core] [-v]
//
// It starts Xtigervnc and x11vnc, each with a desktop of known colours, and the gateway before
// them. Each viewer gets its own screen (Xvfb with a window manager), an address from the API, and
// the clicks and keys of a person. Everything is on the loopback, with its data in a temporary
// folder, and is ended at the end. A viewer that is not installed fails: there is no skipping.
// -results appends a line "name TAB passed TAB failed TAB seconds" for each viewer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// viewerTimeout ends a viewer that hangs; the slowest takes some 15 seconds.
const viewerTimeout = time.Minute

func main() {
	o := options{programs: programs{script: "script"}}
	p := &o.programs
	flag.StringVar(&p.xvnc, "xvnc", "Xtigervnc", "the VNC server of the desktop")
	flag.StringVar(&p.x11vnc, "x11vnc", "x11vnc", "the VNC server of the second desktop")
	flag.StringVar(&p.xvfb, "xvfb", "Xvfb", "the X server of the viewers")
	flag.StringVar(&p.openbox, "openbox", "openbox", "the window manager of the viewers")
	flag.StringVar(&p.tiger, "tigervnc", "xtigervncviewer", "TigerVNC's viewer")
	flag.StringVar(&p.stunnel, "stunnel", "stunnel", "what does TLS for a viewer that does not")
	flag.StringVar(&p.ssvnc, "ssvnc", "/usr/lib/ssvnc/ssvnc_cmd", "ssvnc without its form")
	flag.StringVar(&p.gvnc, "gvncviewer", "gvncviewer", "the viewer of gtk-vnc")
	flag.StringVar(&p.virt, "remote-viewer", "remote-viewer", "virt-viewer's viewer, which is on gtk-vnc too")
	flag.StringVar(&p.remmina, "remmina", "remmina", "Remmina, with its VNC plugin")
	flag.StringVar(&p.tight, "xtightvncviewer", "xtightvncviewer", "TightVNC's viewer")
	flag.IntVar(&o.port, "port", 5900, "the port of the VNC addresses")
	flag.StringVar(&o.keep, "keep", "", "a folder for pictures of the screens of viewers that fail")
	gateway := func(name string) func(string) error {
		return func(string) error { o.gateway = name; return nil }
	}
	flag.BoolFunc("cluster", "view through two gateways that share Redis and PostgreSQL, behind a balancer", gateway("cluster"))
	flag.BoolFunc("core", "the gateway is a build of the core, which records nothing", gateway("core"))
	flag.BoolVar(&o.verbose, "v", false, "show every check, not only those of a viewer that fails")
	process.Main("viewers", "viewers", func(ctx context.Context, flags process.Options) (bool, error) {
		o.Options = flags
		return o.run(ctx)
	})
}

type options struct {
	process.Options
	programs
	port    int // of the VNC addresses
	keep    string
	verbose bool
	gateway string // "": one; "cluster": two; "core": a build of the core alone
}

// run drives all viewers that match. Those that need VNC authentication have their own gateway.
func (o options) run(ctx context.Context) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "gatehouse-viewers-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	first, err := desktop.StartXvnc(dir, o.xvnc, workstation)
	if err != nil {
		return false, err
	}
	defer first.Stop()
	second, err := desktop.StartX11vnc(ctx, dir, o.x11vnc, o.xvfb, x11vncWorkstation)
	if err != nil {
		return false, err
	}
	defer second.Stop()
	ok = true
	for _, vncAuth := range []bool{false, true} {
		var some []viewer
		for _, v := range viewers {
			if v.vncAuth == vncAuth && o.Only.MatchString(v.name) {
				some = append(some, v)
			}
		}
		good, err := o.runSome(ctx, filepath.Join(dir, fmt.Sprint("vncauth-", vncAuth)), []*desktop.Desktop{first, second}, vncAuth, some)
		if ok = ok && good; err != nil {
			return false, err
		}
	}
	return ok, nil
}

func (o options) runSome(ctx context.Context, dir string, desktops []*desktop.Desktop, vncAuth bool, some []viewer) (ok bool, err error) {
	if len(some) == 0 {
		return true, nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return false, err
	}
	if o.gateway != "cluster" {
		g, err := startGateway(ctx, o.Caddy, dir, o.port, desktops, vncAuth, node{core: o.gateway == "core"})
		if err != nil {
			return false, err
		}
		defer g.Stop()
		return o.driveAll(ctx, dir, g, desktops, some)
	}
	failed := clustertest.Run(ctx, func(t clustertest.T) {
		var g *gateway
		if g, err = startCluster(ctx, t, o.Caddy, dir, o.port, desktops, vncAuth); err == nil {
			ok, err = o.driveAll(ctx, dir, g, desktops, some)
		}
	})
	return ok, errors.Join(err, failed)
}

// driveAll drives the viewers, one after another.
func (o options) driveAll(ctx context.Context, dir string, g *gateway, desktops []*desktop.Desktop, some []viewer) (ok bool, err error) {
	ok = true
	for i, v := range some {
		d := desktops[0]
		if v.x11vnc {
			d = desktops[1]
		}
		r := o.drive(ctx, v, filepath.Join(dir, fmt.Sprint(i)), g, d)
		if r.Failed > 0 || o.verbose {
			fmt.Println(r.Details())
		}
		if err := r.Report(o.Results); err != nil {
			return false, err
		}
		ok = ok && r.Failed == 0
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	if !ok {
		g.ShowLog(os.Stdout)
	}
	return ok, nil
}

// drive gives v a screen and lets it run.
func (o options) drive(ctx context.Context, v viewer, dir string, g *gateway, d *desktop.Desktop) *process.Result {
	began := time.Now()
	r := process.NewResult("viewer " + v.name)
	defer func() { r.Took = time.Since(began) }()
	ctx, cancel := context.WithTimeout(ctx, viewerTimeout)
	defer cancel()
	if !r.Must("the workstation is there", errors.Join(os.Mkdir(dir, 0o700), g.restore(ctx, d.Name))) {
		return r
	}
	screen, err := startScreen(ctx, dir, o.xvfb, o.openbox)
	if !r.Must("the viewer has a screen", err) {
		return r
	}
	defer screen.stop()
	s := &session{Result: r, screen: screen, dir: dir, gateway: g, desktop: d}
	defer s.end()
	v.run(o.programs, ctx, s)
	if r.Failed > 0 {
		s.explain(o.keep)
	}
	return r
}
