package screen_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
)

// What a workstation sends must not hold a call or memory for long.
func TestAHostileWorkstationIsGivenUp(t *testing.T) {
	drip := func(conn net.Conn, p []byte, every time.Duration) {
		for {
			for i := range p {
				if _, err := conn.Write(p[i : i+1]); err != nil {
					return
				}
				time.Sleep(every)
			}
		}
	}
	drain := func(conn net.Conn) { go func() { _, _ = io.Copy(io.Discard, conn) }() }
	whole := []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4}
	for name, after := range map[string]func(conn net.Conn){
		"reads nothing":       func(conn net.Conn) { drip(conn, []byte{2}, time.Second) },
		"says nothing":        func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"one byte a second":   func(conn net.Conn) { drain(conn); drip(conn, whole, time.Second) },
		"bells only":          func(conn net.Conn) { drain(conn); drip(conn, []byte{2}, 10*time.Millisecond) },
		"cursors only":        func(conn net.Conn) { drain(conn); drip(conn, []byte{0, 0, 0, 0}, 10*time.Millisecond) },
		"another size always": func(conn net.Conn) { drain(conn); sizes(conn) },
		"an endless update":   func(conn net.Conn) { drain(conn); endless(conn) },
		"too large a size":    func(conn net.Conn) { drain(conn); drip(conn, size(65535, 65535), 0) },
		"more than memory":    func(conn net.Conn) { drain(conn); drip(conn, size(4000, 4000), 0) },
		"nonsense":            func(conn net.Conn) { drain(conn); drip(conn, []byte{77}, 0) },
		"is gone":             func(conn net.Conn) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			l.server.after = after
			l.screens.SetLimits(screen.Limits{Memory: 32 << 20})
			begun := time.Now()
			x, err := l.open("agent")
			if err == nil {
				_, err = x.Look(t.Context(), screen.Want{})
				x.Release()
			}
			wantCode(t, err, apierror.WorkstationUnreachable)
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			<-l.Left
			l.wantNothingLeft()
			time.Sleep(2 * time.Second) // the server notices
		})
	}
}

func TestAWorkstationThatIsNotReachedIsReported(t *testing.T) {
	for name, dial := range map[string]func(*lab) (net.Conn, error){
		"refused": func(*lab) (net.Conn, error) { return nil, errors.New("connection refused") },
		"silent":  func(*lab) (net.Conn, error) { ours, _ := net.Pipe(); return ours, nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			l.screens = screen.New(func(context.Context, *desktop.Pass) (net.Conn, error) { return dial(l) })
			begun := time.Now()
			_, err := l.open("agent")
			wantCode(t, err, apierror.WorkstationUnreachable)
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			<-l.Left
			l.wantNothingLeft()
		})
	}
}

// size is an update with DesktopSize.
func size(w, h int) []byte {
	return []byte{0, 0, 0, 1, 0, 0, 0, 0, byte(w >> 8), byte(w), byte(h >> 8), byte(h), 255, 255, 255, 33}
}

func sizes(conn net.Conn) {
	for n := 100; ; n = 300 - n {
		if _, err := conn.Write(size(n, 100)); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func endless(conn net.Conn) {
	if _, err := conn.Write([]byte{0, 0, 255, 255}); err != nil {
		return
	}
	for {
		if _, err := conn.Write([]byte{0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4}); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
