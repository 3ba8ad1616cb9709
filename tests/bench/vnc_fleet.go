//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
)

const (
	l4TLS    role = "l4-tls" // caddy-l4's tls and proxy: the base of the ratios
	bareCopy role = "bare"   // crypto/tls and io.Copy, nothing else
)

// vncServers are the roles in the VNC comparison, in the order of the report.
var vncServers = []role{l4TLS, bareCopy, gateway}

// vncServer is a server with its own desktop behind it.
type vncServer struct {
	*server // addr is the VNC listener
	desktop *desktop
	api     string // host:port that issues VNC addresses; empty if none is needed
}

// vncFleet has the servers of one round of the VNC cases.
type vncFleet struct {
	*fleet
	frame    []byte
	desktops []*vncServer
	all      []*desktop // of every server ever started, to be closed
}

// startVNCFleet starts the three servers. After an error nothing of it runs.
func startVNCFleet(ctx context.Context, o options) (f *vncFleet, err error) {
	base, err := newFleet(o)
	if err != nil {
		return nil, err
	}
	f = &vncFleet{fleet: base, frame: newFrame()}
	defer func() {
		if err != nil {
			f.close()
			f = nil
		}
	}()
	for _, which := range vncServers {
		s, err := f.start(ctx, which)
		if err != nil {
			return f, err
		}
		f.desktops = append(f.desktops, s)
		f.servers = append(f.servers, s.server)
	}
	return f, nil
}

func (f *vncFleet) close() {
	f.fleet.close()
	closeDesktops(f.all)
}

func closeDesktops(all []*desktop) {
	for _, d := range all {
		d.close()
	}
}

// start starts one more server of that role, with a new desktop.
func (f *vncFleet) start(ctx context.Context, which role) (*vncServer, error) {
	s, err := f.newVNCServer(which)
	if err != nil {
		return nil, err
	}
	if which == bareCopy {
		err = f.startBare(ctx, s)
	} else {
		var cfg site
		var env []string
		if s.server, cfg, env, err = f.newServer(which, &server{addr: s.desktop.addr()}); err != nil {
			return nil, err
		}
		text := l4Caddyfile(cfg)
		if which == gateway {
			text, s.api = gatewayVNCCaddyfile(cfg), s.addr
		}
		s.addr = s.secure
		s.proc, err = f.runCaddy(string(which), s.dir, env, text)
	}
	if err != nil {
		return nil, err
	}
	return s, s.proc.await(ctx, func() error { return f.ready(ctx, s) })
}

// newVNCServer makes the desktop of a server, which has not started.
func (f *vncFleet) newVNCServer(which role) (*vncServer, error) {
	d, err := newDesktop(f.frame)
	if err != nil {
		return nil, err
	}
	f.all = append(f.all, d)
	return &vncServer{server: &server{role: which}, desktop: d}, nil
}

func (f *vncFleet) startBare(ctx context.Context, s *vncServer) error {
	name := fmt.Sprintf("%s-%d", s.role, len(f.started))
	env, dir, err := f.environment(name)
	if err != nil {
		return err
	}
	p, line, err := startSelf(ctx, name, dir, env, relayCommand, f.cert.cert, f.cert.key, s.desktop.addr())
	if err != nil {
		return err
	}
	f.started = append(f.started, p)
	s.proc = p
	var ok bool
	if s.addr, s.admin, ok = strings.Cut(line, " "); !ok {
		return fmt.Errorf("%s names the addresses %q", name, line)
	}
	return nil
}

// ready opens a first session and moves a pointer in it.
func (f *vncFleet) ready(ctx context.Context, s *vncServer) error {
	d, err := f.endpoint(ctx, s, false)
	if err != nil {
		return err
	}
	v, err := d.view(ctx)
	if err != nil {
		return err
	}
	defer v.close()
	return v.point(ctx)
}

// endpoint returns how viewers reach the server now. For a gateway it requests an address, as its
// user would.
func (f *vncFleet) endpoint(ctx context.Context, s *vncServer, vencrypt bool) (vncEndpoint, error) {
	d := vncEndpoint{addr: s.addr, name: benchWorkstation + "." + vncDomain, roots: f.cert.roots}
	if s.api == "" {
		return d, nil
	}
	address, err := askAddress(ctx, s.api, f.secrets.gateway)
	if err != nil {
		return d, err
	}
	var port, want string
	if d.name, port, err = net.SplitHostPort(address); err != nil {
		return d, err
	}
	if _, want, _ = net.SplitHostPort(s.addr); port != want {
		return d, fmt.Errorf("the gateway sends viewers to port %s, it listens on %s", port, want)
	}
	d.vencrypt = vencrypt
	return d, nil
}

// askAddress requests the VNC address of the bench's workstation from a gateway.
func askAddress(ctx context.Context, api, key string) (string, error) {
	var issued struct {
		Address string `json:"vnc_url"`
	}
	err := fetchJSON(ctx, http.MethodPost, "http://"+api+"/v1/workstations/"+benchWorkstation+"/vnc", key, &issued)
	if err == nil && issued.Address == "" {
		err = errors.New("asking for a VNC address: the answer has none")
	}
	return issued.Address, err
}
