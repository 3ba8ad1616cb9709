package tests

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsocket"
)

// browserSocket serves desktops to browsers that are signed in by an Authorization header.
type browserSocket struct{ gateway *gateway.Gateway }

func init() {
	caddy.RegisterModule(new(browserSocket))
	httpcaddyfile.RegisterHandlerDirective("browser_socket", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next()
		return new(browserSocket), nil
	})
}

func (*browserSocket) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.browser_socket", New: func() caddy.Module { return new(browserSocket) }}
}

func (s *browserSocket) Provision(ctx caddy.Context) (err error) {
	s.gateway, err = caddykit.Gateway(ctx)
	return err
}

func (s *browserSocket) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if err := s.gateway.Ready(r.Context()); err != nil {
		return err
	}
	current := s.gateway.Current()
	caller, err := current.Authenticate(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if err != nil {
		return caddyhttp.Error(http.StatusUnauthorized, err)
	}
	vncsocket.Serve(w, r, vncsocket.Options{
		Gateway: current.VNC(), SignedIn: vncsocket.Key{Tenant: caller.Tenant, Hash: caller.Hash},
	})
	return nil
}

const browserSite = "route {\nbrowser_socket /socket\nmetrics /metrics\ngatehouse\n}"

// browse opens the desktop of an address that key connect has asked for, as a page of origin does.
func (h *harness) browse(origin string, a address) (*wire, *websocket.Conn) {
	h.t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: h.roots()}}
	h.t.Cleanup(transport.CloseIdleConnections)
	ws, _, err := websocket.Dial(h.t.Context(), origin+"/socket", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{vncsocket.Protocol},
		HTTPHeader: http.Header{"Origin": {origin}, "Authorization": {"Bearer " + secretOf("connect")}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = ws.CloseNow() })
	w := &wire{Conn: websocket.NetConn(context.Background(), ws, websocket.MessageBinary), harness: h}
	if w.say(a.token).greeted("RFB 003.008\n", 1).accepted(); w.err != nil {
		h.t.Fatal(w.err)
	}
	return w, ws
}

// wantClose waits for the Close of a browser's desktop.
func wantClose(t *testing.T, w *wire, code websocket.StatusCode, reason string) {
	t.Helper()
	begun := time.Now()
	_, err := w.Read(make([]byte, 1))
	var end websocket.CloseError
	if !errors.As(err, &end) || end.Code != code || end.Reason != reason || time.Since(begun) > oneSecond {
		t.Errorf("after %v: %v, want %d %q", time.Since(begun), err, code, reason)
	}
}

// A browser's session belongs to no configuration, over TLS and on plain loopback.
func TestVNCABrowserKeepsItsDesktopThroughReloads(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{secure: true, site: browserSite, vnc: "on_conflict share\n" + d.as("one", "")}
	h := startVNC(t, s)
	a := h.issue("connect", "one", "")
	plain, _ := h.browse(h.origin, a)
	secure, _ := h.browse(h.secure, a)
	ids := h.sessions("one")
	for i := range 3 {
		h.become(s)
		for n, w := range []*wire{plain, secure} {
			if w.echo(i, n); w.err != nil {
				t.Fatalf("session %d after reload %d: %v", n, i+1, w.err)
			}
		}
	}
	if got := h.sessions("one"); len(ids) != 2 || strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("sessions %v, want %v", got, ids)
	}
	h.release("one")
	wantClose(t, plain, vncsocket.CodeReleased, `The key "desk" released the workstation.`)
	wantClose(t, secure, vncsocket.CodeReleased, `The key "desk" released the workstation.`)
	h.vncClosed()
	if row := h.vncRecord("one"); at(row, "ended") != "released" {
		t.Errorf("row %v", row)
	}
	h.vncLogLine(`"security":"browser"`, `"ended":"released"`)
	if n := h.metric(`gatehouse_vnc_sessions_total{ended="released",security="browser"}`); n != 2 {
		t.Errorf("%v sessions are counted", n)
	}
}

func TestVNCABrowserIsToldThatItsKeyOrTheGatewayGoes(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{site: browserSite, vnc: d.as("one", "")}
	h := startVNC(t, s)
	w, _ := h.browse(h.origin, h.issue("connect", "one", ""))
	h.change(h.caddyfile(setup{noKeys: true, site: browserSite, keys: defaultKeys + dropKey("connect"), vnc: s.vnc}))
	wantClose(t, w, vncsocket.CodeSignIn, "Your key or the workstation is no longer there.")

	h.become(s)
	w, _ = h.browse(h.origin, h.issue("connect", "one", ""))
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, err := w.Read(make([]byte, 1)) // websocket.NetConn makes an EOF of 1001
		if err == nil {
			t.Error("the desktop goes on")
		}
	}()
	h.stop()
	<-over
}
