//go:build unix && !race

package clustertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// What a page reads when its desktop ends (internal/vncsocket).
const (
	signedOut        = 4004
	released         = 4001
	socketProtocol   = "gatehouse.vnc.1"
	greeting         = "RFB 003.008\n"
	releaseIsSeen    = time.Second
	orderOfDesktop   = `{"shared":true}`
	desktopOfConsole = "/console/workstations/second/desktop"
)

// order asks gateway i for a token for the console's desktop.
func (p *proof) order(i int, cookie string) string {
	p.t.Helper()
	origin := p.Gateways[i].Origin
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, origin+desktopOfConsole, strings.NewReader(orderOfDesktop))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Origin", origin)
	r.Header.Set("Cookie", cookie)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	var ordered struct{ Token string }
	if err == nil {
		err = json.Unmarshal(body, &ordered)
	}
	if err != nil || ordered.Token == "" {
		p.t.Fatalf("a desktop is ordered: %s %s %v", resp.Status, body, err)
	}
	return ordered.Token
}

// connect opens the console's desktop at gateway i, up to the greeting and the desktop's size.
func (p *proof) connect(i int, cookie, token string) net.Conn {
	p.t.Helper()
	origin := p.Gateways[i].Origin
	ws, _, err := websocket.Dial(p.t.Context(), origin+"/console/socket", &websocket.DialOptions{
		Subprotocols: []string{socketProtocol}, HTTPHeader: http.Header{"Origin": {origin}, "Cookie": {cookie}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = ws.CloseNow() })
	conn := websocket.NetConn(context.WithoutCancel(p.t.Context()), ws, websocket.MessageBinary)
	for _, step := range []struct {
		sent string
		read int // bytes
	}{{token, len(greeting)}, {greeting, 2}, {"\x01", 4}, {"\x01", 24}} { // token, version, security None, ClientInit
		if _, err := io.WriteString(conn, step.sent); err != nil {
			p.t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, step.read)); err != nil {
			p.t.Fatal(err)
		}
	}
	return conn
}

// wantEnd waits until a desktop ends with a code.
func (p *proof) wantEnd(desktop net.Conn, code websocket.StatusCode, began time.Time) {
	p.t.Helper()
	if err := desktop.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, desktop)
	var end websocket.CloseError
	if !errors.As(err, &end) || end.Code != code || time.Since(began) > releaseIsSeen {
		p.t.Errorf("the desktop ended after %v with %v, want %d", time.Since(began), err, code)
	}
}

// A desktop of the console is ordered at one gateway and opened at the other. It ends there when the
// person signs out, or the workstation is released, at the first.
func (p *proof) consoleDesktop() {
	cookie := p.signIn(0, "desk")
	open := p.connect(1, cookie, p.order(0, cookie))
	began := time.Now()
	if resp := p.browse(0, http.MethodPost, "/console/sign-out", cookie, nil); resp.StatusCode != http.StatusSeeOther {
		p.t.Errorf("sign-out: %s", resp.Status)
	}
	p.wantEnd(open, signedOut, began)

	cookie = p.signIn(1, "desk")
	open = p.connect(0, cookie, p.order(1, cookie))
	began = time.Now()
	p.want(204, p.at(1, "desk"), "DELETE", "/v1/workstations/second", "")
	p.wantEnd(open, released, began)
	p.want(200, p.at(1, "desk"), "PUT", "/v1/workstations/second", "{}")
}
