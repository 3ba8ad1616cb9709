package vnc

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// acceptedViewers are viewers that were accepted and have not asked for the desktop yet, by
// security.
var acceptedViewers = map[string]func(h *harness.Gateway, a harness.Address) *harness.Conn{
	"TLSFirst": func(h *harness.Gateway, a harness.Address) *harness.Conn {
		return h.VNC.TLSFirst(a.Host).Expect(uint32(0))
	},
	"X509None": func(h *harness.Gateway, a harness.Address) *harness.Conn {
		w := h.VNC.Dial("").Greet("RFB 003.008\n", 19)
		w.VeNCrypt(260)
		return w.StartTLS(a.Host).Expect(uint32(0))
	},
	"X509Plain": func(h *harness.Gateway, a harness.Address) *harness.Conn {
		w := h.VNC.Dial("").Greet("RFB 003.008\n", 19)
		w.VeNCrypt(262)
		return w.StartTLS("").Plain("", a.Token).Expect(uint32(0))
	},
}

// A viewer whose session ends before its ClientInit, and that neither reads nor closes, is closed
// soon, also where the steps of a handshake may last long.
func TestVNCAViewerThatStaysAtItsClientInitIsLetGo(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	vnc := "on_conflict replace\n"
	for way := range acceptedViewers {
		for _, end := range []string{"released", "replaced", "ended"} {
			vnc += d.As(way+"-"+end, "")
		}
	}
	h := harness.StartVNC(t, harness.Setup{VNCHandler: both + "step_timeout 5m\nauth_timeout 5m", VNC: vnc})
	staying := map[string]*harness.Conn{}
	var all sync.WaitGroup
	var mu sync.Mutex // guards staying
	for way, come := range acceptedViewers {
		for _, end := range []string{"released", "replaced", "ended"} {
			name := way + "-" + end
			a := h.VNC.Issue("connect", name, "")
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
		mustSucceed(h, w)
	}
	if n := h.Records.Metric("gatehouse_vnc_sessions_open"); n != float64(len(staying)) {
		t.Fatalf("%v sessions are open, want %d", n, len(staying))
	}
	begun := time.Now()
	for way := range acceptedViewers {
		h.VNC.Release(way + "-released")
		h.VNC.View(h.VNC.Issue("desk", way+"-replaced", ""))
		h.Client.Want(204, "DELETE", workstations+"/"+way+"-ended/sessions/"+h.VNC.Sessions(way + "-ended")[0], "desk", "")
	}
	let := harness.Eventually(func() bool { // a line is written when the connection is closed
		for name := range staying {
			if len(vncLogLines(h, name)) == 0 {
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
			line := vncLogLine(h, `"msg":"vnc session"`, `"workstation":"`+name+`"`, `"ended":"`+end+`"`)
			if harness.At(line, "security") != way {
				t.Errorf("%s: line %v", name, line)
			}
			if n := len(vncLogLines(h, name)); n != 1 {
				t.Errorf("%s: %d lines", name, n)
			}
			if row := vncRecord(h, name); harness.At(row, "ended") != end {
				t.Errorf("%s: row %v", name, row)
			}
			if staying[name].End(); staying[name].Err != nil { // it finds a clean end when it looks
				t.Errorf("%s: %v", name, staying[name].Err)
			}
		}
	}
}

// The end of TLS and that of the connection come together, also to a viewer
// that keeps its own side open.
func TestVNCTheConnectionEndsWithItsTLS(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	vnc := ""
	for way := range acceptedViewers {
		vnc += d.As(way, "")
	}
	h := harness.StartVNC(t, harness.Setup{VNCHandler: both, VNC: vnc})
	for way, come := range acceptedViewers {
		w := come(h, h.VNC.Issue("connect", way, "")).Desktop(0).Echo(7, 9)
		mustSucceed(h, w)
		begun := time.Now()
		h.VNC.Release(way)
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
		w.Leave()
	}
}

// slowly is a viewer on a slow network: it reads a little at a time, and pauses, while its person
// moves the pointer. It returns how many bytes it got, and how the connection ended.
func slowly(w *harness.Conn) (total int, err error) {
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
	d := harness.NewVNCServer(t, func(w *harness.Conn) {
		harness.NoSecurity(w)
		w.Expect(1).Send(harness.ServerInit, make([]byte, size))
		_, _ = io.Copy(io.Discard, w)
		w.Fail("over")
	})
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	w := h.VNC.Dial(harness.ViewerAddress)
	mustSucceed(h, w)
	if err := w.Conn.(*net.TCPConn).SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	w.StartTLS(h.VNC.Issue("connect", "one", "").Host).Expect("RFB 003.008\n").Send("RFB 003.008\n").Expect(1, 1).Send(1).Accepted()
	defer w.Leave()
	mustSucceed(h, w)
	if !harness.Eventually(func() bool {
		list := harness.Parse(t, h.Client.Want(200, "GET", workstations+"/one/sessions", "manage", "").Body)
		return harness.At(list, "data", 0, "bytes_down") == harness.Number(strconv.Itoa(size))
	}) {
		t.Fatal("not all was taken from the workstation")
	}
	begun := time.Now()
	h.VNC.Release("one")
	total, err := slowly(w)
	t.Logf("%d bytes in the %s after the release", total, time.Since(begun).Round(time.Millisecond))
	if total != size || !errors.Is(err, io.EOF) { // io.EOF is a close_notify
		t.Errorf("it got %d bytes of %d, and then %v", total, size, err)
	}
	if _, err := io.Copy(io.Discard, w.Conn.(*tls.Conn).NetConn()); err != nil {
		t.Errorf("the connection's end: %v", err)
	}
	if row := vncRecord(h, "one"); harness.At(row, "ended") != "released" {
		t.Errorf("row %v", row)
	}
}
