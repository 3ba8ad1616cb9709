package vnc

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
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
	s.gateway, err = caddykit.Part[*gateway.Gateway](ctx)
	return err
}

func (s *browserSocket) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if err := s.gateway.Ready(r.Context()); err != nil {
		return err
	}
	current := s.gateway.Current()
	caller, err := current.Authenticate(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "")
	if err != nil {
		return caddyhttp.Error(http.StatusUnauthorized, err)
	}
	vncsocket.Serve(w, r, vncsocket.Options{
		Gateway: gateway.VNCOf(current), SignedIn: vncsocket.Key{Tenant: caller.Tenant, Hash: caller.Hash},
	})
	return nil
}

const browserSite = "route {\nbrowser_socket /socket\nmetrics /metrics\ngatehouse\n}"

// browse opens the desktop of an address that key connect has asked for, as a page of origin does.
func browse(h *harness.Gateway, origin string, a harness.Address) (*harness.Conn, *websocket.Conn) {
	h.T.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: h.VNC.Roots()}}
	h.T.Cleanup(transport.CloseIdleConnections)
	ws, _, err := websocket.Dial(h.T.Context(), origin+"/socket", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{vncsocket.Protocol},
		HTTPHeader: http.Header{"Origin": {origin}, "Authorization": {"Bearer " + harness.Secret("connect")}},
	})
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() { _ = ws.CloseNow() })
	w := &harness.Conn{Conn: websocket.NetConn(context.Background(), ws, websocket.MessageBinary)}
	if w.Send(a.Token).Greet("RFB 003.008\n", 1).Accepted(); w.Err != nil {
		h.T.Fatal(w.Err)
	}
	return w, ws
}

// wantClose waits for the Close of a browser's desktop.
func wantClose(t *testing.T, w *harness.Conn, code websocket.StatusCode, reason string) {
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
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{Secure: true, Site: browserSite, VNC: "on_conflict share\n" + d.As("one", "")}
	h := harness.StartVNC(t, s)
	a := h.VNC.Issue("connect", "one", "")
	plain, _ := browse(h, h.Client.Origin, a)
	secure, _ := browse(h, h.Client.Secure, a)
	ids := h.VNC.Sessions("one")
	for i := range 3 {
		h.Become(s)
		for n, w := range []*harness.Conn{plain, secure} {
			if w.Echo(i, n); w.Err != nil {
				t.Fatalf("session %d after reload %d: %v", n, i+1, w.Err)
			}
		}
	}
	if got := h.VNC.Sessions("one"); len(ids) != 2 || strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("sessions %v, want %v", got, ids)
	}
	h.VNC.Release("one")
	wantClose(t, plain, vncsocket.CodeReleased, `The key "desk" released the workstation.`)
	wantClose(t, secure, vncsocket.CodeReleased, `The key "desk" released the workstation.`)
	h.VNC.WaitClosed()
	if row := vncRecord(h, "one"); harness.At(row, "ended") != "released" {
		t.Errorf("row %v", row)
	}
	vncLogLine(h, `"security":"browser"`, `"ended":"released"`)
	if n := h.Records.Metric(`gatehouse_vnc_sessions_total{ended="released",security="browser"}`); n != 2 {
		t.Errorf("%v sessions are counted", n)
	}
}

func TestVNCABrowserIsToldThatItsKeyOrTheGatewayGoes(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{Site: browserSite, VNC: d.As("one", "")}
	h := harness.StartVNC(t, s)
	w, _ := browse(h, h.Client.Origin, h.VNC.Issue("connect", "one", ""))
	h.Change(h.Caddyfile(harness.Setup{NoKeys: true, Site: browserSite, Keys: harness.DefaultKeys + dropKey("connect"), VNC: s.VNC}))
	wantClose(t, w, vncsocket.CodeSignIn, "Your key or the workstation is no longer there.")

	h.Become(s)
	w, _ = browse(h, h.Client.Origin, h.VNC.Issue("connect", "one", ""))
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, err := w.Read(make([]byte, 1)) // websocket.NetConn makes an EOF of 1001
		if err == nil {
			t.Error("the desktop goes on")
		}
	}()
	h.Stop()
	<-over
}
