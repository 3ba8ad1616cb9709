//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// role is a server's part in the comparison, and its name in the report.
type role string

const (
	direct  role = "direct"        // the upstream without anything between
	proxy   role = "reverse_proxy" // Caddy's plain reverse_proxy
	gateway role = "gateway"       // the measured server
)

// modelServers are the roles in the comparison of model calls, in the order of the report. The last
// is only in cases with duties.
var modelServers = []role{direct, proxy, gateway, gatewayOn}

// server is one thing under load.
type server struct {
	role    role
	proc    *program
	addr    string // host:port
	guarded string // host:port that requires a key
	secure  string // host:port with TLS, whose upstream is asked over TLS and HTTP/2
	admin   string // host:port of Caddy's admin endpoint, empty for the upstream
	renames bool   // answers have the provider's prefix in the model's name
	log     string // file of the process log
	access  string // file of the access log of the guarded site
	dir     string // with everything that the server writes
	duties  duties // the gateway's duties that are on
}

// model is the name that an answer must have if this model, with its prefix, was requested: the
// gateway returns the requested name, the upstream always the same.
func (s *server) model(asked string) string {
	if s.renames {
		return asked
	}
	return modelWhole
}

// fleet has the servers of one round and its folder; close removes both.
type fleet struct {
	dir      string
	cert     certificate // of every server; they trust it too
	secrets  secrets
	opts     options
	upstream *server
	servers  []*server          // direct, reverse_proxy, gateway
	on       map[duties]*server // gateways with duties on that a case has needed
	started  []*program
}

// secrets are made for one fleet and known to nobody else.
type secrets struct{ gateway, audit, spent, upstream, wrong string }

func newSecrets() secrets {
	key := func() string { return "sk-bench-" + rand.Text() }
	return secrets{gateway: key(), audit: key(), spent: key(), upstream: key(), wrong: key()}
}

// newFleet makes the folder and the certificate of a fleet without servers.
func newFleet(o options) (*fleet, error) {
	dir, err := os.MkdirTemp("", "gatehouse-bench-")
	if err != nil {
		return nil, err
	}
	cert, err := newCertificate(dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &fleet{dir: dir, cert: cert, opts: o, secrets: newSecrets()}, nil
}

// startFleet starts the upstream and both Caddys. After an error nothing of it runs.
func startFleet(ctx context.Context, o options) (f *fleet, err error) {
	if f, err = newFleet(o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.close()
			f = nil
		}
	}()

	if err := f.startUpstream(ctx); err != nil {
		return f, err
	}
	f.servers = []*server{f.upstream}
	for _, which := range []role{proxy, gateway} {
		s, err := f.startCaddy(ctx, which, 0)
		if err != nil {
			return f, err
		}
		f.servers = append(f.servers, s)
	}
	return f, nil
}

func (f *fleet) startUpstream(ctx context.Context) error {
	env, sub, err := f.environment("upstream")
	if err != nil {
		return err
	}
	up, addr, secure, err := startUpstream(ctx, sub, env, f.cert)
	if err != nil {
		return err
	}
	f.started = append(f.started, up)
	f.upstream = &server{role: direct, proc: up, addr: addr, guarded: addr, secure: secure}
	return nil
}

// newServer makes the folder and the ports of one more Caddy of that role before an upstream.
func (f *fleet) newServer(which role, upstream *server) (s *server, cfg site, env []string, err error) {
	env, dir, err := f.environment(fmt.Sprintf("%s-%d", which, len(f.started)))
	if err != nil {
		return nil, cfg, nil, err
	}
	ports, err := process.FreePorts(4)
	if err != nil {
		return nil, cfg, nil, err
	}
	at := func(i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i])) }
	cfg = site{
		admin: at(0), port: ports[1], guarded: ports[2], secure: ports[3],
		upstream: upstream.addr, secureUpstream: upstream.secure, cert: f.cert,
		storage: filepath.Join(dir, "storage"), log: filepath.Join(dir, "process.log"), access: filepath.Join(dir, "access.log"),
		catalog: filepath.Join(dir, "catalog.json"), keys: filepath.Join(dir, "keys.jsonl"),
	}
	return &server{role: which, addr: at(1), guarded: at(2), secure: at(3), admin: at(0), log: cfg.log, access: cfg.access, dir: dir}, cfg, env, nil
}

// startCaddy starts one more Caddy of that role on the fleet's upstream, with these duties on if it
// is a gateway.
func (f *fleet) startCaddy(ctx context.Context, which role, d duties) (*server, error) {
	s, cfg, env, err := f.newServer(which, f.upstream)
	if err != nil {
		return nil, err
	}
	text := proxyCaddyfile(cfg)
	if which != proxy {
		text, s.renames, s.guarded, s.duties = gatewayCaddyfile(cfg, d), true, s.addr, d
		if err := writeCatalog(cfg.catalog); err != nil {
			return nil, err
		}
	}
	if s.proc, err = f.runCaddy(string(which), s.dir, env, text); err != nil {
		return nil, err
	}
	if err := s.proc.await(ctx, func() error { return s.ready(ctx, f.secrets.gateway) }); err != nil {
		return nil, err
	}
	if s.renames { // the one call that its rate allows
		if err := s.ready(ctx, f.secrets.spent); err != nil {
			return nil, fmt.Errorf("using a rate up: %w", err)
		}
	}
	return s, nil
}

// runCaddy starts a Caddy with that Caddyfile; the fleet ends it.
func (f *fleet) runCaddy(name, dir string, env []string, text string) (*program, error) {
	file := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p, _, err := startProgram(name, dir, env, f.opts.Caddy, "run", "--config", file, "--adapter", "caddyfile")
	if err != nil {
		return nil, err
	}
	f.started = append(f.started, p)
	return p, nil
}

// ready makes a first call through the server.
func (s *server) ready(ctx context.Context, key string) error {
	body, err := chatBody(providerPrefix+modelWhole, false, 1<<10, codePrompt)
	if err != nil {
		return err
	}
	c := newConn(s.addr)
	defer c.close()
	a, err := c.do(ctx, encode(s.addr, chatPath, key, body))
	if err != nil {
		return err
	}
	return checkWhole(a, len(body), s.model(providerPrefix+modelWhole))
}

// environment makes a folder for one server and its environment: nothing of ours, equal memory and
// scheduler settings, its data in the folder.
func (f *fleet) environment(name string) (env []string, dir string, err error) {
	dir = filepath.Join(f.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, "", err
	}
	return []string{
		"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "SSL_CERT_FILE=" + f.cert.cert,
		"GOGC=" + f.opts.GOGC, "GOMEMLIMIT=" + f.opts.MemLimit, "GOMAXPROCS=" + strconv.Itoa(f.opts.GOMAXPROCS),
		gatewayKeyVar + "=" + f.secrets.gateway, auditKeyVar + "=" + f.secrets.audit, spentKeyVar + "=" + f.secrets.spent,
		upstreamKeyVar + "=" + f.secrets.upstream,
	}, dir, nil
}

// alive returns an error if a server under load has ended.
func (f *fleet) alive() error {
	var err error
	for _, s := range f.servers {
		err = errors.Join(err, s.proc.alive())
	}
	for _, s := range f.on {
		err = errors.Join(err, s.proc.alive())
	}
	return err
}

// close ends every server the fleet started, the newest first, and removes its folder.
func (f *fleet) close() {
	for i := len(f.started) - 1; i >= 0; i-- {
		f.started[i].Stop()
	}
	os.RemoveAll(f.dir)
}

// collectGarbage makes a Caddy run its collector, through its admin endpoint.
func (s *server) collectGarbage(ctx context.Context) error {
	body, err := s.adminGet(ctx, "/debug/pprof/heap?gc=1")
	if err == nil && len(body) == 0 {
		err = errors.New("an empty heap profile")
	}
	return err
}

// adminGet reads one page of Caddy's admin endpoint.
func (s *server) adminGet(ctx context.Context, path string) ([]byte, error) {
	return fetch(ctx, plain, http.MethodGet, "http://"+s.admin+path, nil)
}
