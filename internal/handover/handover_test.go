package handover

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// server is a server of one configuration, which answers with its name.
type server struct {
	http.Server
	served chan struct{} // closed when Serve has returned
}

func serve(t *testing.T, ln net.Listener, handler http.HandlerFunc) *server {
	t.Helper()
	s := &server{Server: http.Server{Handler: handler, ConnState: StateChanged}, served: make(chan struct{})}
	go func() {
		defer close(s.served)
		if err := s.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { _ = s.Server.Close(); <-s.served })
	return s
}

// pair has two configurations at one address. The second replaces the first.
type pair struct {
	group   Group
	old     *server
	next    http.HandlerFunc
	address string
}

func reload(t *testing.T, old, next http.HandlerFunc) *pair {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{address: ln.Addr().String(), next: next}
	g := &p.group
	t.Cleanup(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.open)+len(g.sockets) > 0 {
			t.Errorf("%v and %v are left", g.open, g.sockets)
		}
	})
	p.old = serve(t, g.Listen(g.Share(ln, "a"), "a", true), old)
	return p
}

// replace starts the next server and shuts the old one down.
func (p *pair) replace(t *testing.T) (done chan error) {
	t.Helper()
	other, err := net.Listen("tcp", "127.0.0.1:0") // as a second socket of the address
	if err != nil {
		t.Fatal(err)
	}
	serve(t, p.group.Listen(p.group.Share(other, "a"), "a", true), p.next)
	done = make(chan error, 1)
	go func() { done <- p.old.Shutdown(context.WithoutCancel(t.Context())) }()
	<-p.old.served
	return done
}

// named answers with a name after the body was read.
func named(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, name)
	}
}

// client is one connection.
type client struct {
	net.Conn
	answers *bufio.Reader
}

func (p *pair) dial(t *testing.T) *client {
	t.Helper()
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // of a test that hangs
	return &client{conn, bufio.NewReader(conn)}
}

func (c *client) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// next is the body of the next answer, or the error.
func (c *client) next() string {
	resp, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}

const (
	get  = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
)

func TestAConnectionGoesToTheNextServer(t *testing.T) {
	for name, c := range map[string]struct{ first, before, after string }{
		"new":                       {"", "", get},
		"with a part of a header":   {"", get[:20], get[20:]},
		"idle":                      {get, "", get},
		"idle after a body":         {post, "", get},
		"idle, with part of header": {post, post[:30], post[30:]},
		"idle, with a long header":  {post, get[:16] + "X-A: " + strings.Repeat("a", 10_000), "\r\n" + get[16:]},
	} {
		t.Run(name, func(t *testing.T) {
			p := reload(t, named("old"), named("next"))
			conn := p.dial(t)
			if conn.send(t, c.first); c.first != "" {
				if got := conn.next(); got != "old" {
					t.Fatal(got)
				}
			}
			conn.send(t, c.before)
			done := p.replace(t)
			for range 2 {
				conn.send(t, c.after)
				if got := conn.next(); got != "next" {
					t.Fatalf("got %s", got)
				}
				c.after = get
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// A request that a handler has seen is not processed again, however its handler ends.
func TestARequestIsNotProcessedTwice(t *testing.T) {
	for name, c := range map[string]struct {
		request string
		end     func(http.ResponseWriter, *http.Request)
		want    string
	}{
		"answered":        {get, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "old") }, "old"},
		"aborted":         {get, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "unexpected EOF"},
		"aborted at once": {post, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); panic(http.ErrAbortHandler) }, "unexpected EOF"},
		"aborted in the answer": {post, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "unexpected EOF"},
		"hijacked": {get, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			begun, proceed := make(chan struct{}), make(chan struct{})
			p := reload(t, func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				<-proceed
				c.end(w, r)
			}, func(http.ResponseWriter, *http.Request) { t.Error("the next server gets the request") })
			conn := p.dial(t)
			conn.send(t, c.request)
			<-begun
			done := p.replace(t)
			close(proceed)
			if got := conn.next(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// What a server may have read of a second request is unknown to the connection: it closes, as without
// this package.
func TestAConnectionOfUnknownStateCloses(t *testing.T) {
	for name, first := range map[string]string{
		"two requests at once": get + get[:10],
		"a request too early":  post + get[:2],
		"a chunked body":       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		p := reload(t, named("old"), func(http.ResponseWriter, *http.Request) { t.Errorf("%s: the next server gets it", name) })
		conn := p.dial(t)
		conn.send(t, first)
		if got := conn.next(); got != "old" {
			t.Fatalf("%s: %s", name, got)
		}
		if strings.HasSuffix(first, get[:10]) {
			conn.send(t, get[10:15])
		}
		<-p.replace(t)
		if got := conn.next(); got != "unexpected EOF" && !strings.Contains(got, "reset") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Thousands of clients may be in the middle of an upload, or idle after a large one.
func TestAConnectionKeepsNoBody(t *testing.T) {
	var g Group
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	conn := g.Listen(nil, "a", true).wrap(ours, nil)
	go func() {
		_, _ = io.WriteString(theirs, "POST / HTTP/1.1\r\nContent-Length: 30000\r\n\r\n"+strings.Repeat("a", 30_000))
	}()
	buffer := make([]byte, 4<<10) // as net/http has it
	for read := 0; read < 30_000; {
		n, err := conn.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		if read += n; read == n {
			StateChanged(conn, http.StateActive)
		}
	}
	if kept := cap(conn.RemoteAddr().(*remoteAddr).conn.record); kept > 4<<10 {
		t.Errorf("%d bytes are kept", kept)
	}
}

// A server with two wrappers reports each change of state twice. The first byte of the next request has come
// before the answer to the last one has ended.
func TestAStateReportedTwiceCountsOnce(t *testing.T) {
	var g Group
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	conn := &connection{Conn: ours, listener: &Listener{group: &g, done: make(chan struct{})}, phase: waiting}
	conn.address = &remoteAddr{ours.RemoteAddr(), conn}
	conn.received([]byte(get))
	for range 2 {
		StateChanged(conn, http.StateActive)
	}
	conn.mu.Lock()
	conn.begun()
	conn.mu.Unlock()
	conn.received([]byte("G"))
	for range 2 {
		StateChanged(conn, http.StateIdle)
	}
	if conn.answered || conn.got != 1 || string(conn.record) != "G" {
		t.Errorf("answered %v, %d bytes, record %q", conn.answered, conn.got, conn.record)
	}
}

func TestTheLastServerClosesItsConnections(t *testing.T) {
	p := reload(t, named("old"), named("next"))
	conn := p.dial(t)
	conn.send(t, get)
	conn.next()
	if err := p.old.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if got := conn.next(); got != "unexpected EOF" {
		t.Errorf("got %q", got)
	}
	if other, err := net.Dial("tcp", p.address); err == nil {
		_ = other.Close()
		t.Error("the socket is still open")
	}
}
