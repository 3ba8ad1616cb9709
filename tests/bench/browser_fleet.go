//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	browserProtocol = "gatehouse.vnc.1" // of the gateway
	binaryProtocol  = "binary"          // of the others
	browserHost     = benchWorkstation + "." + vncDomain
)

// consoleVNCCaddyfile is the gateway with its console at the site that the others leave empty.
func consoleVNCCaddyfile(s vncSite) string {
	return strings.Replace(gatewayVNCCaddyfile(s), "\trespond 204\n", "\tgatehouse_console\n", 1)
}

// startBrowser starts a server with a desktop of its own and opens that as a browser does.
func (f *vncFleet) startBrowser(ctx context.Context, which role) (s *vncServer, v *viewer, err error) {
	d, err := newDesktop(f.frame)
	if err != nil {
		return nil, nil, err
	}
	f.all = append(f.all, d)
	env, dir, err := f.environment(string(which))
	if err != nil {
		return nil, nil, err
	}
	s = &vncServer{server: &server{role: which}, desktop: d}
	open := func() error { v, err = f.browse(ctx, s.addr, "/", binaryProtocol, http.Header{}); return err }
	switch which {
	case gateway:
		err = f.startConsole(s, dir, env)
		open = func() error { v, err = f.browseConsole(ctx, s); return err }
	case websockify:
		err = f.startWebsockify(s, dir, env)
	default:
		s.proc, s.addr, err = startSelf(ctx, string(which), dir, env, socketCommand, f.cert.cert, f.cert.key, d.addr())
		if err == nil {
			f.started = append(f.started, s.proc)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return s, v, s.proc.await(ctx, func() error { return open() })
}

func (f *vncFleet) startConsole(s *vncServer, dir string, env []string) (err error) {
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
	s.admin, s.api, s.addr, s.log = at(0), at(1), at(2), cfg.log
	s.proc, err = f.runCaddy(string(s.role), dir, env, consoleVNCCaddyfile(cfg))
	return err
}

// startWebsockify starts it for one connection: it would serve several in processes of their own.
func (f *vncFleet) startWebsockify(s *vncServer, dir string, env []string) error {
	ports, err := process.FreePorts(1)
	if err != nil {
		return err
	}
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
	s.proc, _, err = startProgram(string(s.role), dir, append(env, "PATH=/usr/bin:/bin"), "/usr/bin/env", string(websockify), "--run-once", "--ssl-only",
		"--cert", f.cert.cert, "--key", f.cert.key, s.addr, s.desktop.addr())
	if err == nil {
		f.started = append(f.started, s.proc)
	}
	return err
}

// client is a browser's, which trusts the certificate and finds the host at addr.
func (f *vncFleet) client(addr string) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: f.cert.roots, ServerName: browserHost},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{Timeout: ioTimeout}).DialContext(ctx, network, addr)
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// browse opens a WebSocket, and the desktop behind it.
func (f *vncFleet) browse(ctx context.Context, addr, path, protocol string, header http.Header, first ...string) (*viewer, error) {
	ws, _, err := websocket.Dial(ctx, "wss://"+browserHost+path, &websocket.DialOptions{
		HTTPClient: f.client(addr), Subprotocols: []string{protocol}, HTTPHeader: header,
	})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	v := &viewer{nc: websocket.NetConn(context.WithoutCancel(ctx), ws, websocket.MessageBinary)}
	_ = v.nc.SetDeadline(time.Now().Add(ioTimeout))
	for _, text := range first {
		if err := v.say(text); err != nil {
			return nil, err
		}
	}
	if err := v.handshakeInside(ctx, vncEndpoint{}); err != nil {
		v.close()
		return nil, err
	}
	return v, nil
}

// browseConsole signs in, asks for a token and opens the desktop, as the console's page does.
func (f *vncFleet) browseConsole(ctx context.Context, s *vncServer) (*viewer, error) {
	origin := "https://" + browserHost
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+"/console/sign-in", strings.NewReader(url.Values{"key": {f.secrets.gateway}}.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin}}
	res, err := f.client(s.addr).Do(req)
	if err != nil {
		return nil, err
	}
	res.Body.Close()
	if len(res.Cookies()) == 0 {
		return nil, fmt.Errorf("signing in: status %d and no cookie", res.StatusCode)
	}
	address, err := askAddress(ctx, s.api, f.secrets.gateway)
	if err != nil {
		return nil, err
	}
	token, _, ok := strings.Cut(address, ".")
	if !ok {
		return nil, errors.New("the address has no token")
	}
	return f.browse(ctx, s.addr, "/console/socket", browserProtocol, http.Header{"Origin": {origin}, "Cookie": {res.Cookies()[0].String()}}, token)
}
