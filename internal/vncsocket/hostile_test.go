package vncsocket

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

// What noVNC never sends ends the session, as a message that the protocol does not allow.
func TestAForbiddenMessageEndsTheSession(t *testing.T) {
	for name, c := range map[string]struct {
		send func(b *browser)
		code int // of the Close; 0: none can be sent
		kind string
	}{
		"text":     {func(b *browser) { _ = b.ws.Write(context.Background(), websocket.MessageText, []byte(pointer)) }, 1003, "message"},
		"too long": {func(b *browser) { _ = b.ws.Write(context.Background(), websocket.MessageBinary, clipboard(64<<10)) }, 1009, "too_long"},
		"no frame": {func(b *browser) { _, _ = b.pipe.Write([]byte("\xf2\x80\x00\x00\x00\x00")) }, 1002, "garbage"},
		"no mask":  {func(b *browser) { _, _ = b.pipe.Write([]byte("\x82\x01\x05")) }, 1002, "garbage"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, options{}, nil)
				b := f.desktop()
				go c.send(b)
				for {
					_, _, err := b.ws.Read(context.Background())
					if err != nil {
						if code := int(websocket.CloseStatus(err)); code != c.code {
							t.Errorf("the browser reads %v, want %d", err, c.code)
						}
						break
					}
				}
				<-f.Left
				f.WantRecord(c.kind, "protocol_error")
			})
		})
	}
}

// clipboard is a ClientCutText of a size.
func clipboard(n int) []byte {
	return append([]byte{6, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, make([]byte, n)...)
}

// counting counts what a workstation could send.
type counting struct {
	net.Conn
	sent *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.sent.Add(int64(n))
	return n, err
}

// endlessDesktop opens the desktop of a workstation whose picture does not end. It counts what the
// gateway takes of it.
func endlessDesktop(t *testing.T) (f *fixture, b *browser, taken *atomic.Int64) {
	taken = new(atomic.Int64)
	f = newFixture(t, options{Desktop: vncrelaytest.Join(vncrelaytest.DesktopNone, vncrelaytest.DesktopInit,
		conversation{"S " + strings.Repeat("p", 4<<20)})}, nil)
	f.options.Dial = func(ctx context.Context, pass *desktop.Pass) (net.Conn, error) {
		conn, err := f.Dial(ctx, pass)
		return counting{conn, taken}, err
	}
	b = f.show(f.Issue(desktop.Options{}))
	b.play(vncrelaytest.Join(chosen, conversation{accepted, "C \x01", initOne}))
	return f, b, taken
}

// A browser that reads nothing has the gateway take nothing more of the workstation, and is closed
// after two minutes; one that is slow is not.
func TestWhatIsHeldForASlowBrowserIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, b, taken := endlessDesktop(t)
		for range 5 {
			time.Sleep(time.Minute)
			synctest.Wait()
			if held := taken.Load() - int64(len(b.rest)); held > 128<<10 {
				t.Fatalf("%d bytes are held", held)
			}
			taken.Store(0)
			if _, err := io.ReadFull(b, make([]byte, 64<<10)); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		<-f.Left
		if took := time.Since(begun); took > 2*time.Minute+2*time.Second || took < time.Minute {
			t.Errorf("it ended after %v", took)
		}
		f.WantRecord("", "viewer_left")
	})
}

// A release ends the session of a browser that reads nothing within a second or so: no code can be
// sent within a message that is cut.
func TestAReleaseEndsABrowserThatReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, _ := endlessDesktop(t)
		synctest.Wait()
		begun := time.Now()
		release(f)
		<-f.Left
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		f.WantRecord("", "released")
	})
}

// A page that never sends a token is closed for a newer one, and an open session is not.
func TestTheOldestWithoutATokenIsEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, func(o *Options) { o.Limits.PendingPerNetwork = 2 })
		session := f.desktop()
		<-f.returned
		oldest := f.open()
		synctest.Wait() // it is counted
		second := f.open()
		synctest.Wait()
		third := f.open()
		<-f.returned
		if _, err := oldest.Read(make([]byte, 1)); err == nil {
			t.Error("the oldest is not closed")
		}
		f.WantRefused("too_many_connections: max_pending or max_pending_per_network was reached, and this connection was closed for a newer one")
		if n := f.Limiter.Pending(); n != 2 {
			t.Errorf("%d are half open", n)
		}
		session.play(conversation{"C " + pointer, "S " + pointer})
		second.leave()
		third.leave()
	})
}

// A browser that answers no Close is closed after a second.
func TestABrowserThatDoesNotAnswerACloseIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, options{}, nil)
		b := f.desktop()
		go func() { _, _ = io.Copy(io.Discard, b.pipe) }()
		begun := time.Now()
		release(f)
		<-f.Left
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it took %v", took)
		}
		f.WantRecord("", "released")
	})
}
