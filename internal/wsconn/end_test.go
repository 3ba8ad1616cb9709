package wsconn

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestADeadlineWakesAReadAndLeavesTheConnection(t *testing.T) {
	conn, browser := connected(t)
	read := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 8))
		read <- err
	}()
	_ = conn.SetReadDeadline(time.Now())
	if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read: %v", err)
	}
	if _, err := conn.Write([]byte("picture")); err != nil {
		t.Errorf("a write after it: %v", err)
	}
	if _, message, err := browser.Read(t.Context()); string(message) != "picture" || err != nil {
		t.Errorf("the browser reads %q, %v", message, err)
	}
	go conn.Hangup(4001, "Released.")
	wantClose(t, browser, 4001, "Released.")
}

func wantClose(t *testing.T, browser *websocket.Conn, code websocket.StatusCode, reason string) {
	t.Helper()
	_, _, err := browser.Read(t.Context())
	var end websocket.CloseError
	if !errors.As(err, &end) || end.Code != code || end.Reason != reason {
		t.Errorf("the browser sees %v, want %d %q", err, code, reason)
	}
}

// A write whose deadline has passed before it begins sends no part of a frame: the code still arrives.
func TestAPassedDeadlineOfWritesTearsNothing(t *testing.T) {
	conn, browser := connected(t)
	_ = conn.SetDeadline(time.Now().Add(-time.Second))
	if n, err := conn.Write([]byte("picture")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d, %v", n, err)
	}
	go conn.Hangup(4002, "Replaced.")
	wantClose(t, browser, 4002, "Replaced.")
	if err := conn.SetDeadline(time.Time{}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a deadline after the end: %v", err)
	}
	if _, err := conn.Write([]byte("late")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
}

// A browser that reads nothing holds a write, and then the hangup, for no longer than their limits.
func TestAStuckWriteIsCutByItsDeadlineAndByHangup(t *testing.T) {
	for name, end := range map[string]func(*Conn){
		"its deadline": func(c *Conn) { _ = c.SetWriteDeadline(time.Now()) },
		"hangup":       func(c *Conn) { c.Hangup(4001, "Released.") },
		"close":        func(c *Conn) { _ = c.Close() },
	} {
		conn, _ := dialRaw(t)
		stuck := make(chan error, 1)
		go func() {
			for {
				if _, err := conn.Write(make([]byte, maxWrite)); err != nil {
					stuck <- err
					return
				}
			}
		}()
		waitUntil(t, func() bool {
			conn.mu.Lock()
			defer conn.mu.Unlock()
			return conn.writing && time.Duration(conn.socket.now()-conn.said) > 100*time.Millisecond
		})
		begun := time.Now()
		end(conn)
		if err := <-stuck; err == nil || time.Since(begun) > 3*HangupTime {
			t.Errorf("%s: %v after %v", name, err, time.Since(begun))
		}
		conn.Hangup(4001, "Released.")
	}
}

// waitUntil polls for what no channel tells.
func waitUntil(t *testing.T, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patient); !ok(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it does not happen")
		}
	}
}

func TestTheBrowsersCloseIsTheEnd(t *testing.T) {
	conn, browser := connected(t)
	go func() { _ = browser.Close(websocket.StatusNormalClosure, "") }()
	if _, err := conn.Read(make([]byte, 8)); err != io.EOF {
		t.Error(err)
	}
	conn.Hangup(4001, "nobody hears it")
	conn, browser = connected(t)
	_ = browser.CloseNow()
	if _, err := conn.Read(make([]byte, 8)); !errors.Is(err, net.ErrClosed) {
		t.Error("a lost connection: ", err)
	}
}

func TestAReasonIsCutAtACharacter(t *testing.T) {
	conn, browser := connected(t)
	go conn.Hangup(4001, strings.Repeat("ä", 100))
	wantClose(t, browser, 4001, strings.Repeat("ä", 61))
}

func TestOnlyOneGoroutineReadsAndNoneIsLeft(t *testing.T) {
	conn, browser := connected(t)
	var hung [3]chan struct{}
	for i := range hung {
		hung[i] = make(chan struct{})
		go func() { defer close(hung[i]); conn.Hangup(4001, "Released.") }()
	}
	wantClose(t, browser, 4001, "Released.")
	for i := range hung {
		<-hung[i]
	}
	if conn.timer.Stop() {
		t.Error("the timer runs on")
	}
}
