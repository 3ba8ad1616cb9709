package vncsocket

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

type (
	conversation = vncrelaytest.Conversation
	options      = vncrelaytest.Options
)

const (
	accepted = vncrelaytest.Accepted
	initOne  = vncrelaytest.InitOne
	pointer  = vncrelaytest.Pointer

	origin        = "http://console.test"
	viewerAddress = "192.0.2.1:40000"
	patient       = time.Hour // of a bubble: only a test that fails waits it out
)

var (
	// chosen is noVNC's part up to the SecurityResult.
	chosen = conversation{vncrelaytest.Greets, vncrelaytest.Says38, "S \x01\x01", "C \x01"}
	opened = vncrelaytest.Join(chosen, conversation{accepted, "C \x01", initOne, "C " + pointer, "S " + pointer})

	signedIn = Key{Tenant: vncrelaytest.Issuer.Tenant, Hash: vncrelaytest.Issuer.KeyHash}
)

// pipes are the connections of a server in a bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return address("127.0.0.1:443") }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// addressed is a pipe with addresses.
type addressed struct{ net.Conn }

func (addressed) LocalAddr() net.Addr  { return address("127.0.0.1:443") }
func (addressed) RemoteAddr() net.Addr { return address(viewerAddress) }

// fixture is a server whose only route is Serve, in a bubble.
type fixture struct {
	*vncrelaytest.Gateway
	options  Options
	origin   string // of the page
	server   *http.Server
	pipes    *pipes
	returned chan struct{} // one for each Serve that has returned
}

// newFixture serves browsers of workstation "one". change may be nil.
func newFixture(t *testing.T, o options, change func(*Options)) *fixture {
	t.Helper()
	g := vncrelaytest.New(t, o)
	f := &fixture{
		Gateway: g, options: Options{Gateway: g, SignedIn: signedIn, Dial: g.Dial}, origin: origin,
		pipes: &pipes{make(chan net.Conn), make(chan struct{})}, returned: make(chan struct{}, 1000),
	}
	if change != nil {
		change(&f.options)
	}
	f.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Serve(w, r, f.options)
		f.returned <- struct{}{}
	})}
	over := make(chan struct{})
	go func() { defer close(over); _ = f.server.Serve(f.pipes) }()
	t.Cleanup(func() { _ = f.server.Close(); <-over })
	return f
}

// browser is a page with an open WebSocket.
type browser struct {
	t    *testing.T
	ws   *websocket.Conn
	pipe net.Conn
	rest []byte
}

// open opens a WebSocket from a page of the same origin.
func (f *fixture) open() *browser {
	f.T.Helper()
	b := &browser{t: f.T}
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		f.pipes.conns <- addressed{ours}
		b.pipe = theirs
		return theirs, nil
	}}
	var err error
	b.ws, _, err = websocket.Dial(context.Background(), origin+"/console/socket", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{Protocol}, HTTPHeader: http.Header{"Origin": {f.origin}},
	})
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(b.leave)
	return b
}

// show opens a WebSocket and sends a token.
func (f *fixture) show(token string) *browser {
	f.T.Helper()
	b := f.open()
	b.send(websocket.MessageBinary, token)
	return b
}

// desktop opens the desktop of a new token.
func (f *fixture) desktop() *browser {
	f.T.Helper()
	b := f.show(f.Issue(desktop.Options{}))
	b.play(opened)
	return b
}

func (b *browser) send(kind websocket.MessageType, message string) {
	b.t.Helper()
	if err := b.ws.Write(context.Background(), kind, []byte(message)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) play(c conversation) {
	b.t.Helper()
	if _, err := c.Play(b, 'C'); err != nil {
		b.t.Fatal("browser: ", err)
	}
}

func (b *browser) leave() { _ = b.ws.CloseNow() }

// wantClose reads to the end, which must be a Close, and before it nothing.
func (b *browser) wantClose(code int, reason string) {
	b.t.Helper()
	rest, err := io.ReadAll(b)
	var end websocket.CloseError
	if !errors.As(err, &end) || int(end.Code) != code || end.Reason != reason || len(rest) > 0 {
		b.t.Errorf("the browser reads %q, %v; want %d %q", rest, err, code, reason)
	}
}

// Read, Write and the rest make a net.Conn of the browser's messages, for conversations.
func (b *browser) Read(p []byte) (int, error) {
	for len(b.rest) == 0 {
		kind, message, err := b.ws.Read(context.Background())
		if err != nil {
			return 0, err
		}
		if kind != websocket.MessageBinary {
			return 0, errors.New("a text message")
		}
		b.rest = message
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *browser) Write(p []byte) (int, error) {
	return len(p), b.ws.Write(context.Background(), websocket.MessageBinary, p)
}
func (b *browser) Close() error                     { b.leave(); return nil }
func (b *browser) LocalAddr() net.Addr              { return address(viewerAddress) }
func (b *browser) RemoteAddr() net.Addr             { return address("127.0.0.1:443") }
func (b *browser) SetDeadline(time.Time) error      { return nil }
func (b *browser) SetReadDeadline(time.Time) error  { return nil }
func (b *browser) SetWriteDeadline(time.Time) error { return nil }
