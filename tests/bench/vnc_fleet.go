//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
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
	d, err := newDesktop(f.frame)
	if err != nil {
		return nil, err
	}
	f.all = append(f.all, d)
	name := fmt.Sprintf("%s-%d", which, len(f.started))
	env, dir, err := f.environment(name)
	if err != nil {
		return nil, err
	}
	s := &vncServer{server: &server{role: which}, desktop: d}
	if which == bareCopy {
		err = f.startBare(ctx, s, name, dir, env)
	} else {
		err = f.startVNC(s, name, dir, env)
	}
	if err != nil {
		return nil, err
	}
	return s, s.proc.await(ctx, func() error { return f.ready(ctx, s) })
}

func (f *vncFleet) startBare(ctx context.Context, s *vncServer, name, dir string, env []string) error {
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

func (f *vncFleet) startVNC(s *vncServer, name, dir string, env []string) error {
	ports, err := process.FreePorts(4)
	if err != nil {
		return err
	}
	at := func(i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i])) }
	cfg := vncSite{vncPort: ports[3], site: site{
		cert:  f.cert,
		admin: at(0), port: ports[1], guarded: ports[2], upstream: s.desktop.addr(),
		storage: filepath.Join(dir, "storage"), log: filepath.Join(dir, "process.log"),
	}}
	s.admin, s.addr, s.log = at(0), at(3), cfg.log
	text := l4Caddyfile(cfg)
	if s.role == gateway {
		text, s.api = gatewayVNCCaddyfile(cfg), at(1)
	}
	s.proc, err = f.runCaddy(name, dir, env, text)
	return err
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

// maxIssued bounds how much of the answer with an address is read.
const maxIssued = 64 << 10

// askAddress requests the VNC address of the bench's workstation from a gateway.
func askAddress(ctx context.Context, api, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+api+"/v1/workstations/"+benchWorkstation+"/vnc", nil)
	if err != nil {
		return "", err
	}
	req.Close = true
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxIssued))
	if err != nil {
		return "", err
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("asking for a VNC address: status %d: %q", res.StatusCode, shorten(body))
	}
	var issued struct {
		Address string `json:"vnc_url"`
	}
	if err := json.Unmarshal(body, &issued); err != nil {
		return "", fmt.Errorf("asking for a VNC address: %w", err)
	}
	if issued.Address == "" {
		return "", errors.New("asking for a VNC address: the answer has none")
	}
	return issued.Address, nil
}
