package vncrelay

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
)

const (
	soon   = 10 * time.Millisecond // between looks
	enough = 400 * time.Millisecond
	// probed is more than Linux leaves a probe of a closed window unanswered: it answers one in half a
	// second (net.ipv4.tcp_invalid_ratelimit), and the next comes 0.8 s later. It is less than the 1.6 s
	// for which later ones are apart.
	probed = 1200 * time.Millisecond
)

// withSocket calls f with the socket of conn.
func withSocket(t *testing.T, conn syscall.Conn, f func(fd int) error) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if controlErr := raw.Control(func(fd uintptr) { err = f(int(fd)) }); controlErr != nil || err != nil {
		t.Fatal(controlErr, err)
	}
}

// vanish makes the socket hear nothing more, as if its host were off.
func vanish(t *testing.T, conn *net.TCPConn) {
	t.Helper()
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	withSocket(t, conn, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop})
	})
}

// openSession is one viewer at one workstation.
func openSession(t *testing.T) *desktop.Session {
	t.Helper()
	g := vncrelaytest.New(t, options{})
	session := g.JoinAs(g.Issue(desktop.Options{}), viewerAddress)
	t.Cleanup(session.Leave)
	return session
}

func TestASessionEndsWhenOneOfItsHostsVanishes(t *testing.T) {
	for _, gone := range []desktop.Reason{desktop.ReasonViewer, desktop.ReasonWorkstation} {
		viewer, viewersEnd := loopback(t)
		backend, desktopsEnd := loopback(t)
		session := openSession(t)
		ours, theirs := viewer, viewersEnd
		if gone == desktop.ReasonWorkstation {
			ours, theirs = backend, desktopsEnd
		}
		vanish(t, theirs)
		stop := watchPeers(session, viewer, backend, soon, enough)
		if _, err := ours.Write([]byte("the picture moves")); err != nil {
			t.Fatal(err)
		}
		select {
		case <-session.Ended():
		case <-time.After(patient):
			t.Fatalf("%s: the session goes on", gone)
		}
		if viewerGone := stop(); session.Why() != gone || viewerGone != (gone == desktop.ReasonViewer) {
			t.Errorf("ended because of %q, want %q; the viewer is gone: %v", session.Why(), gone, viewerGone)
		}
	}
}

// A viewer that reads nothing for a while, a suspended one for instance, still answers that it
// reads nothing.
func TestAPeerThatReadsNothingIsNotGone(t *testing.T) {
	t.Parallel() // it waits for the system
	viewer, _ := loopback(t)
	backend, _ := loopback(t)
	session := openSession(t)
	stop := watchPeers(session, viewer, backend, soon, probed)
	defer stop()
	_ = viewer.SetWriteDeadline(time.Now().Add(enough / 2)) // its window is closed by then
	for err := error(nil); err == nil; {
		_, err = viewer.Write(make([]byte, 64<<10))
	}
	sent := func() (segments uint32) {
		withSocket(t, viewer, func(fd int) error {
			info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
			if err == nil {
				segments = info.Segs_out
			}
			return err
		})
		return segments
	}
	tick := time.NewTicker(soon)
	defer tick.Stop()
	begin, late := sent(), time.After(patient)
	for sent() < begin+5 { // probes of the closed window, 0.2, 0.4, 0.8 and 1.6 s apart
		select {
		case <-session.Ended():
			t.Fatalf("ended because of %q", session.Why())
		case <-late:
			t.Fatal("the window is not probed")
		case <-tick.C:
		}
	}
}

// By the system's own rule a peer that was away for 20 s is not asked again before it is taken for
// gone.
func TestUnansweredDataIsSentAgainEveryFewSeconds(t *testing.T) {
	plain, _ := loopback(t)
	ours, _ := loopback(t)
	TuneTCP(ours)
	maximum := func(conn *net.TCPConn) (ms int) {
		withSocket(t, conn, func(fd int) (err error) {
			if ms, err = unix.GetsockoptInt(fd, unix.IPPROTO_TCP, tcpRTOMax); errors.Is(err, unix.ENOPROTOOPT) {
				t.Skip("the system is older than Linux 6.15")
			}
			return err
		})
		return ms
	}
	if before, now := maximum(plain), maximum(ours); before <= 5000 || now != 5000 {
		t.Errorf("sent again at most %d ms apart, and %d before", now, before)
	}
}
