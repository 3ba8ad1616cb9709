package wsconn

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// counted counts the writes of the connections that it accepts.
type counted struct {
	net.Listener
	writes *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return countedConn{conn, c.writes}, err
}

type countedConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// texts is a connection of text messages, its client, and how often the server has written.
func texts(t *testing.T) (*Text, *websocket.Conn, *atomic.Int64) {
	t.Helper()
	accepted, writes := make(chan *Text, 1), new(atomic.Int64)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := AcceptText(middleware{w}, r, 1<<20, patient)
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}))
	server.Listener = counted{server.Listener, writes}
	server.Start()
	t.Cleanup(server.Close)
	client, _, err := websocket.Dial(t.Context(), server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	client.SetReadLimit(1 << 30)
	t.Cleanup(func() { _ = client.CloseNow() })
	conn := <-accepted
	t.Cleanup(conn.Close)
	return conn, client, writes
}

func TestMessagesThatAreSentTogetherAreOneWrite(t *testing.T) {
	conn, client, writes := texts(t)
	for _, c := range []struct {
		sizes []int
		most  int64
	}{{[]int{5}, 1}, {[]int{1, 2, 3, 4}, 1}, {[]int{10_000, 20_000, 1}, 1}, {[]int{10, maxHeld, 10}, 5}, {[]int{3 * maxHeld}, 3}, {nil, 0}} {
		before := writes.Load()
		var sent [][]byte
		for _, size := range c.sizes {
			sent = append(sent, []byte(strings.Repeat("x", size)))
		}
		failed := make(chan error, 1)
		go func() { failed <- conn.Send(sent...) }()
		for _, size := range c.sizes {
			kind, got, err := client.Read(t.Context())
			if err != nil || kind != websocket.MessageText || len(got) != size {
				t.Fatalf("%v: %d bytes, %v", c.sizes, len(got), err)
			}
		}
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		if n := writes.Load() - before; n > c.most {
			t.Errorf("%v: %d writes", c.sizes, n)
		}
	}
}

func TestATextMessageIsReadAtAnyLength(t *testing.T) {
	conn, client, _ := texts(t)
	for _, size := range []int{0, 1, MaxMessage + 1, 1 << 20} {
		go func() { _ = client.Write(t.Context(), websocket.MessageText, make([]byte, size)) }()
		message, err := conn.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(message); err != nil || len(got) != size {
			t.Errorf("%d bytes of %d, %v", len(got), size, err)
		}
	}
	send(t, client, websocket.MessageBinary, nil)
	if _, err := conn.Next(); err != ErrBinary {
		t.Error(err)
	}
}

// A client that takes nothing ends the Send in time.
func TestASendHasItsTime(t *testing.T) {
	conn, _, _ := texts(t)
	conn.write = 50 * time.Millisecond
	large := make([]byte, 64<<20)
	began := time.Now()
	if err := conn.Send(large); err == nil || time.Since(began) > patient {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}
