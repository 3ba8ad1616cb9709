package tests

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// acceptedViewers are viewers that were accepted and have not asked for the desktop yet, by
// security.
var acceptedViewers = map[string]func(h *harness, a address) *wire{
	"TLSFirst": func(h *harness, a address) *wire { return h.tlsFirst(a.host).hear(uint32(0)) },
	"X509None": func(h *harness, a address) *wire {
		w := h.dialVNC("").greeted("RFB 003.008\n", 19)
		w.veNCrypt(260)
		return w.startTLS(a.host).hear(uint32(0))
	},
	"X509Plain": func(h *harness, a address) *wire {
		w := h.dialVNC("").greeted("RFB 003.008\n", 19)
		w.veNCrypt(262)
		return w.startTLS("").plain("", a.token).hear(uint32(0))
	},
}

// A viewer whose session ends before its ClientInit, and that neither reads nor closes, is closed
// soon, also where the steps of a handshake may last long.
func TestVNCAViewerThatStaysAtItsClientInitIsLetGo(t *testing.T) {
	d := newVNCServer(t, asNone)
	vnc := "on_conflict replace\n"
	for way := range acceptedViewers {
		for _, end := range []string{"released", "replaced", "ended"} {
			vnc += d.as(way+"-"+end, "")
		}
	}
	h := startVNC(t, setup{vncHandler: both + "step_timeout 5m\nauth_timeout 5m", vnc: vnc})
	staying := map[string]*wire{}
	var all sync.WaitGroup
	var mu sync.Mutex // guards staying
	for way, come := range acceptedViewers {
		for _, end := range []string{"released", "replaced", "ended"} {
			name := way + "-" + end
			a := h.issue("connect", name, "")
			all.Go(func() {
				w := come(h, a)
				mu.Lock()
				defer mu.Unlock()
				staying[name] = w
			})
		}
	}
	all.Wait()
	for _, w := range staying {
		h.good(w)
	}
	if n := h.metric("gatehouse_vnc_sessions_open"); n != float64(len(staying)) {
		t.Fatalf("%v sessions are open, want %d", n, len(staying))
	}
	begun := time.Now()
	for way := range acceptedViewers {
		h.release(way + "-released")
		h.view(h.issue("desk", way+"-replaced", ""))
		h.want(204, "DELETE", workstations+"/"+way+"-ended/sessions/"+h.sessions(way + "-ended")[0], "desk", "")
	}
	let := eventually(func() bool { // a line is written when the connection is closed
		for name := range staying {
			if len(h.vncLogLines(name)) == 0 {
				return false
			}
		}
		return true
	})
	took := time.Since(begun)
	t.Logf("the last of %d was let go after %s", len(staying), took.Round(time.Millisecond))
	if !let || took > 3*oneSecond {
		t.Errorf("some are kept %s after the end", took.Round(time.Millisecond))
	}
	for way := range acceptedViewers {
		for _, end := range []string{"released", "replaced", "ended"} {
			name := way + "-" + end
			line := h.vncLogLine(`"msg":"vnc session"`, `"workstation":"`+name+`"`, `"ended":"`+end+`"`)
			if at(line, "security") != way {
				t.Errorf("%s: line %v", name, line)
			}
			if n := len(h.vncLogLines(name)); n != 1 {
				t.Errorf("%s: %d lines", name, n)
			}
			if row := h.vncRecord(name); at(row, "ended") != end {
				t.Errorf("%s: row %v", name, row)
			}
			if staying[name].over(); staying[name].err != nil { // it finds a clean end when it looks
				t.Errorf("%s: %v", name, staying[name].err)
			}
		}
	}
}

// The end of TLS and that of the connection come together, also to a viewer
// that keeps its own side open.
func TestVNCTheConnectionEndsWithItsTLS(t *testing.T) {
	d := newVNCServer(t, asNone)
	vnc := ""
	for way := range acceptedViewers {
		vnc += d.as(way, "")
	}
	h := startVNC(t, setup{vncHandler: both, vnc: vnc})
	for way, come := range acceptedViewers {
		w := come(h, h.issue("connect", way, "")).desktop(0).echo(7, 9)
		h.good(w)
		begun := time.Now()
		h.release(way)
		if _, err := io.Copy(io.Discard, w); err != nil { // nil is a close_notify
			t.Errorf("%s: no clean end inside TLS: %v", way, err)
		}
		if _, err := io.Copy(io.Discard, w.Conn.(*tls.Conn).NetConn()); err != nil {
			t.Errorf("%s: the connection's end: %v", way, err)
		}
		took := time.Since(begun)
		t.Logf("%s: the FIN came %s after the release began", way, took.Round(time.Millisecond))
		if took > oneSecond/2 {
			t.Errorf("%s: it took %s", way, took)
		}
		w.leave()
	}
}

// slowly is a viewer on a slow network: it reads a little at a time, and pauses, while its person
// moves the pointer. It returns how many bytes it got, and how the connection ended.
func (w *wire) slowly() (total int, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for piece := make([]byte, 4<<10); err == nil; <-tick.C {
		_, _ = w.Write([]byte{5, 1, 0, 5, 0, 5}) // a failure shows when it reads
		var n int
		n, err = w.Read(piece)
		total += n
	}
	return total, err
}

// Bytes that were sent before a release arrive on a slow network too, and then the end: a reset
// would discard them.
func TestVNCASlowLineCarriesAllUntilTheEnd(t *testing.T) {
	const size = 320 << 10
	d := newVNCServer(t, func(w *wire) {
		asNone(w)
		w.hear(1).say(serverInit, make([]byte, size))
		_, _ = io.Copy(io.Discard, w)
		w.fail("over")
	})
	h := startVNC(t, setup{vnc: d.as("one", "")})
	w := h.dialVNC(ownAddress)
	h.good(w)
	if err := w.Conn.(*net.TCPConn).SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	w.startTLS(h.issue("connect", "one", "").host).hear("RFB 003.008\n").say("RFB 003.008\n").hear(1, 1).say(1).accepted()
	defer w.leave()
	h.good(w)
	if !eventually(func() bool {
		list := parse(t, h.want(200, "GET", workstations+"/one/sessions", "manage", "").body)
		return at(list, "data", 0, "bytes_down") == number(itoa(size))
	}) {
		t.Fatal("not all was taken from the workstation")
	}
	begun := time.Now()
	h.release("one")
	total, err := w.slowly()
	t.Logf("%d bytes in the %s after the release", total, time.Since(begun).Round(time.Millisecond))
	if total != size || !errors.Is(err, io.EOF) { // io.EOF is a close_notify
		t.Errorf("it got %d bytes of %d, and then %v", total, size, err)
	}
	if _, err := io.Copy(io.Discard, w.Conn.(*tls.Conn).NetConn()); err != nil {
		t.Errorf("the connection's end: %v", err)
	}
	if row := h.vncRecord("one"); at(row, "ended") != "released" {
		t.Errorf("row %v", row)
	}
}
