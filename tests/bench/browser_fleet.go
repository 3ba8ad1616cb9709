//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
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
func consoleVNCCaddyfile(s site) string {
	return strings.Replace(gatewayVNCCaddyfile(s), "\trespond 204\n", "\tgatehouse_console\n", 1)
}

// startBrowser starts a server with a desktop of its own and opens that as a browser does.
func (f *vncFleet) startBrowser(ctx context.Context, which role) (s *vncServer, v *viewer, err error) {
	if s, err = f.newVNCServer(which); err != nil {
		return nil, nil, err
	}
	open := func() error { v, err = browse(ctx, f.client(s.addr), "/", binaryProtocol, http.Header{}); return err }
	if which == gateway {
		err = f.startConsole(s)
		open = func() error { v, err = f.browseConsole(ctx, s); return err }
	} else {
		err = f.startSocket(ctx, s)
	}
	if err != nil {
		return nil, nil, err
	}
	return s, v, s.proc.await(ctx, func() error { return open() })
}

func (f *vncFleet) startConsole(s *vncServer) (err error) {
	var cfg site
	var env []string
	if s.server, cfg, env, err = f.newServer(s.role, &server{addr: s.desktop.addr()}); err != nil {
		return err
	}
	s.api, s.addr = s.addr, s.guarded
	s.proc, err = f.runCaddy(string(s.role), s.dir, env, consoleVNCCaddyfile(cfg))
	return err
}

// startSocket starts the bare copy, or websockify.
func (f *vncFleet) startSocket(ctx context.Context, s *vncServer) error {
	env, dir, err := f.environment(string(s.role))
	if err != nil {
		return err
	}
	if s.role == websockify {
		err = f.startWebsockify(s, dir, env)
	} else {
		s.proc, s.addr, err = startSelf(ctx, string(s.role), dir, env, socketCommand, f.cert.cert, f.cert.key, s.desktop.addr())
	}
	if err == nil {
		f.started = append(f.started, s.proc)
	}
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
	return err
}

// client is a browser's, which trusts the certificate and finds the host at addr.
func (f *vncFleet) client(addr string) *http.Client {
	c, t := browserClient(addr)
	t.TLSClientConfig = &tls.Config{RootCAs: f.cert.roots, ServerName: browserHost}
	return c
}

// browse opens a WebSocket, and the desktop behind it.
func browse(ctx context.Context, client *http.Client, path, protocol string, header http.Header, first ...string) (*viewer, error) {
	ws, _, err := websocket.Dial(ctx, "wss://"+browserHost+path, &websocket.DialOptions{
		HTTPClient: client, Subprotocols: []string{protocol}, HTTPHeader: header,
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
	cookie, err := signIn(ctx, f.client(s.addr), origin, f.secrets.gateway)
	if err != nil {
		return nil, err
	}
	address, err := askAddress(ctx, s.api, f.secrets.gateway)
	if err != nil {
		return nil, err
	}
	token, _, ok := strings.Cut(address, ".")
	if !ok {
		return nil, errors.New("the address has no token")
	}
	return browse(ctx, f.client(s.addr), "/console/socket", browserProtocol, http.Header{"Origin": {origin}, "Cookie": {cookie.Name + "=" + cookie.Value}}, token)
}
