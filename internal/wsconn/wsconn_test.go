package wsconn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const (
	protocol = "test.1"
	patient  = 20 * time.Second // only a test that fails waits it out
)

// middleware counts the bytes of a connection for a log, as Caddy's access log does.
type middleware struct{ http.ResponseWriter }

func (m middleware) Unwrap() http.ResponseWriter { return m.ResponseWriter }

func (m middleware) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(m.ResponseWriter).Hijack()
	return struct{ net.Conn }{conn}, buffers, err
}

// connected is a connection over TCP and its browser.
func connected(t *testing.T) (*Conn, *websocket.Conn) {
	t.Helper()
	accepted := make(chan *Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := Accept(middleware{w}, r, protocol)
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}))
	t.Cleanup(server.Close)
	browser, _, err := websocket.Dial(t.Context(), server.URL, &websocket.DialOptions{
		Subprotocols: []string{protocol}, CompressionMode: websocket.CompressionContextTakeover,
	})
	if err != nil {
		t.Fatal(err)
	}
	browser.SetReadLimit(1 << 30)
	t.Cleanup(func() { _ = browser.CloseNow() })
	conn := <-accepted
	t.Cleanup(func() { _ = conn.Close() })
	return conn, browser
}

func send(t *testing.T, browser *websocket.Conn, kind websocket.MessageType, message []byte) {
	t.Helper()
	if err := browser.Write(t.Context(), kind, message); err != nil {
		t.Fatal(err)
	}
}

func TestBytesAreCarriedInMessages(t *testing.T) {
	conn, browser := connected(t)
	go func() {
		for _, piece := range []string{"on", "", "e two", strings.Repeat("3", MaxMessage)} {
			_ = browser.Write(t.Context(), websocket.MessageBinary, []byte(piece))
		}
	}()
	got := make([]byte, len("one two")+MaxMessage)
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.HasPrefix(got, []byte("one two333")) {
		t.Errorf("read %.20q, %v", got, err)
	}
	picture := bytes.Repeat([]byte("p"), 2*maxWrite+1)
	go func() { _, _ = conn.Write(picture) }()
	var sizes []int
	for total := 0; total < len(picture); {
		kind, message, err := browser.Read(t.Context())
		if err != nil || kind != websocket.MessageBinary {
			t.Fatal(kind, err)
		}
		sizes, total = append(sizes, len(message)), total+len(message)
	}
	if len(sizes) != 3 || sizes[0] != maxWrite || sizes[2] != 1 {
		t.Errorf("messages of %v bytes", sizes)
	}
	if n, err := conn.Write(nil); n != 0 || err != nil {
		t.Errorf("nothing: %d, %v", n, err)
	}
}

func TestOneMessageIsReadWhole(t *testing.T) {
	for sent, want := range map[string]error{"": nil, "token": nil, strings.Repeat("a", 64): nil, strings.Repeat("a", 65): ErrTooLong} {
		conn, browser := connected(t)
		send(t, browser, websocket.MessageBinary, []byte(sent))
		if got, err := conn.ReadMessage(64); err != want || err == nil && string(got) != sent {
			t.Errorf("%.70q: %q, %v", sent, got, err)
		}
		if want == nil { // what follows is not lost
			send(t, browser, websocket.MessageBinary, []byte("next"))
			next := make([]byte, 4)
			if _, err := io.ReadFull(conn, next); err != nil || string(next) != "next" {
				t.Errorf("%q, %v", next, err)
			}
		}
	}
	conn, browser := connected(t)
	send(t, browser, websocket.MessageText, []byte("token"))
	if _, err := conn.ReadMessage(64); err != ErrText {
		t.Errorf("text: %v", err)
	}
}

// What the browser must not send ends the connection with its code.
func TestAForbiddenMessageEndsTheConnection(t *testing.T) {
	for name, c := range map[string]struct {
		kind websocket.MessageType
		size int
		want error
		code websocket.StatusCode
	}{
		"text":     {websocket.MessageText, 5, ErrText, websocket.StatusUnsupportedData},
		"too long": {websocket.MessageBinary, MaxMessage + 1, ErrTooLong, websocket.StatusMessageTooBig},
	} {
		conn, browser := connected(t)
		go func() { _ = browser.Write(context.Background(), c.kind, make([]byte, c.size)) }()
		ended := make(chan error, 1)
		go func() {
			_, err := io.Copy(io.Discard, conn)
			ended <- err
			conn.Hangup(4001, "later")
		}()
		if _, _, err := browser.Read(t.Context()); websocket.CloseStatus(err) != c.code {
			t.Errorf("%s: the browser sees %v", name, err)
		}
		if err := <-ended; err != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsNoFrameIsNamed(t *testing.T) {
	conn, browser := dialRaw(t)
	_, _ = browser.Write([]byte("\xf2\x80abcd"))
	if _, err := conn.Read(make([]byte, 8)); !errors.Is(err, ErrFraming) {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 8)); !errors.Is(err, ErrFraming) {
		t.Error("again: ", err)
	}
}

// dialRaw is a connection and the socket of its browser, behind the upgrade.
func dialRaw(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	var raw net.Conn
	accepted := make(chan *Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := Accept(w, r, protocol)
		accepted <- conn
	}))
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		raw = conn
		return conn, err
	}}}
	if _, _, err := websocket.Dial(t.Context(), server.URL, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{protocol}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	conn := <-accepted
	t.Cleanup(func() { _ = conn.Close() })
	return conn, raw
}

func TestTheSubprotocolIsAgreedAndNothingIsCompressed(t *testing.T) {
	conn, browser := connected(t)
	if browser.Subprotocol() != protocol {
		t.Errorf("subprotocol %q", browser.Subprotocol())
	}
	if _, ok := conn.NetConn().(*net.TCPConn); !ok || conn.RemoteAddr().String() == conn.LocalAddr().String() {
		t.Errorf("%T, %v, %v", conn.NetConn(), conn.RemoteAddr(), conn.LocalAddr())
	}
	recorder := httptest.NewRecorder()
	if _, err := Accept(recorder, httptest.NewRequest(http.MethodGet, "/", nil), protocol); err == nil || recorder.Code != http.StatusUpgradeRequired {
		t.Errorf("no upgrade: %d, %v", recorder.Code, err)
	}
}
