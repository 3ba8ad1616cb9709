package wsconn

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// piped is a ResponseWriter whose connection is a pipe.
type piped struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (p piped) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return p.conn, bufio.NewReadWriter(bufio.NewReader(p.conn), bufio.NewWriter(p.conn)), nil
}

// pipe is a connection over a pipe, whose browser the test plays frame by frame: for tests by the
// clock of a bubble.
func pipe(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	ours, browser := net.Pipe()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header = http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Sec-Websocket-Protocol": {protocol},
	}
	conn, err := Accept(piped{httptest.NewRecorder(), ours}, r, protocol)
	if err != nil {
		t.Fatal(err)
	}
	return conn, browser
}

const (
	opPing = 0x89
	opPong = 0x8a
)

// frame is one of the browser, whose mask is zero.
func frame(op byte, payload string) []byte {
	return append([]byte{op, 0x80 | byte(len(payload)), 0, 0, 0, 0}, payload...)
}

// readFrame reads a short frame of the server.
func readFrame(conn net.Conn) (op byte, payload string, err error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(conn, head); err != nil {
		return 0, "", err
	}
	body := make([]byte, head[1])
	_, err = io.ReadFull(conn, body)
	return head[0], string(body), err
}

// A browser that answers pings stays, however long nothing happens; the pings are 25 s apart.
func TestASilentBrowserThatAnswersStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		defer func() { _ = browser.Close(); _ = conn.Close() }()
		read := make(chan error, 1)
		go func() { _, err := conn.Read(make([]byte, 8)); read <- err }()
		begun := time.Now()
		for n := range 10 {
			op, payload, err := readFrame(browser)
			if at, want := time.Since(begun), time.Duration(n+1)*PingAfter; op != opPing || err != nil || at != want {
				t.Fatalf("frame %x after %v, %v; want a ping after %v", op, at, err, want)
			}
			if _, err := browser.Write(frame(opPong, payload)); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case err := <-read:
			t.Error("the read returned ", err)
		default:
		}
	})
}

// A browser that is gone is found after 25 and 20 seconds.
func TestASilentBrowserThatDoesNotAnswerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		go func() { _, _ = io.Copy(io.Discard, browser) }()
		begun := time.Now()
		_, err := conn.Read(make([]byte, 8))
		if took := time.Since(begun); took != PingAfter+PongWithin || !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v after %v", err, took)
		}
		_ = conn.Close()
	})
}

// While nobody reads, a missing answer says nothing: the workstation may be stuck.
func TestABrowserIsNotTakenForGoneWhileNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		pings := make(chan byte, 100)
		go func() {
			for {
				op, _, err := readFrame(browser)
				if err != nil {
					return
				}
				pings <- op
			}
		}()
		time.Sleep(10 * time.Minute)
		if n := len(pings); n < 10 {
			t.Errorf("%d pings keep the proxies from cutting", n)
		}
		go func() { _, _ = browser.Write(frame(0x82, "here")) }()
		got := make([]byte, 4)
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "here" {
			t.Errorf("%q, %v", got, err)
		}
		_ = conn.Close()
		_ = browser.Close()
	})
}

// A deadline of writes that passes while nothing is written fails neither a ping nor what answers the
// browser's own frames.
func TestADeadlineOfWritesIsOfNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		_ = conn.SetWriteDeadline(time.Now().Add(2 * time.Minute))
		for range 10 {
			op, payload, err := readFrame(browser)
			if op != opPing || err != nil {
				t.Fatalf("frame %x, %v", op, err)
			}
			_, _ = browser.Write(frame(opPong, payload))
		}
		_, _ = browser.Write(frame(opPing, "you?"))
		if op, _, err := readFrame(browser); op != opPong || err != nil {
			t.Errorf("frame %x, %v", op, err)
		}
		if _, err := conn.Write([]byte("late")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a write: %v", err)
		}
		_, _ = browser.Close(), conn.Close()
	})
}

// Traffic in one direction only is silence in the other: a proxy counts each by itself.
func TestBytesInOneDirectionDoNotReplaceAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		over := make(chan struct{})
		go func() {
			defer close(over)
			for { // keys, and a desktop that does not change
				time.Sleep(time.Second)
				if _, err := browser.Write(frame(0x82, "key")); err != nil {
					return
				}
			}
		}()
		begun := time.Now()
		if op, _, err := readFrame(browser); op != opPing || err != nil || time.Since(begun) > PingAfter+time.Second {
			t.Errorf("frame %x, %v after %v", op, err, time.Since(begun))
		}
		_, _ = browser.Close(), conn.Close()
		<-over
	})
}

// A picture that moves, with a browser that asks for each, needs no ping.
func TestTrafficBothWaysNeedsNoPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		defer func() { _ = browser.Close(); _ = conn.Close() }()
		go func() { _, _ = io.Copy(conn, conn) }()
		for range 100 {
			time.Sleep(10 * time.Second)
			if _, err := browser.Write(frame(0x82, "ask")); err != nil {
				t.Fatal(err)
			}
			if op, payload, err := readFrame(browser); op == opPing || payload != "ask" || err != nil {
				t.Fatalf("frame %x %q, %v", op, payload, err)
			}
		}
	})
}

// The browser's own pings are answered on the way.
func TestAPingOfTheBrowserIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		defer func() { _ = browser.Close(); _ = conn.Close() }()
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		_, _ = browser.Write(frame(opPing, "you?"))
		if op, payload, err := readFrame(browser); op != opPong || payload != "you?" || err != nil {
			t.Errorf("frame %x %q, %v", op, payload, err)
		}
	})
}

// A browser that does not answer a Close is closed after a second.
func TestAHangupWaitsOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		read := make(chan error, 1)
		go func() { _, err := conn.Read(make([]byte, 8)); read <- err }()
		go func() { _, _ = io.Copy(io.Discard, browser) }()
		synctest.Wait()
		begun := time.Now()
		conn.Hangup(int(websocket.StatusGoingAway), "The gateway stops.")
		if took := time.Since(begun); took != HangupTime {
			t.Errorf("it took %v", took)
		}
		if err := <-read; err == nil {
			t.Error("the read goes on")
		}
		if err := conn.ws.Ping(context.Background()); err == nil {
			t.Error("it is open")
		}
	})
}

// The time of a Send is that of no pong that comes later.
func TestAPingAfterASendIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, browser := pipe(t)
		defer func() { _ = browser.Close(); _ = conn.Close() }()
		text := &Text{conn: conn, write: time.Second}
		go func() { _, _ = text.Next() }()
		go func() { _ = text.Send([]byte("hello")) }()
		if op, _, err := readFrame(browser); op != 0x81 || err != nil {
			t.Fatalf("frame %x, %v", op, err)
		}
		time.Sleep(2 * time.Second)
		_ = browser.SetReadDeadline(time.Now().Add(time.Second))
		go func() { _, _ = browser.Write(frame(opPing, "you?")) }()
		if op, _, err := readFrame(browser); op != opPong || err != nil {
			t.Errorf("frame %x, %v", op, err)
		}
	})
}
