package l4vnc

import (
	"crypto/tls"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestASilentViewerIsGreetedWhenTheWaitForTLSIsOver(t *testing.T) {
	for wait, want := range map[time.Duration]time.Duration{time.Second: time.Second, 3 * time.Second: 3 * time.Second, -1: 0} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			g.handler.settings.tlsFirstWait = wait
			viewer, done := g.connect()
			begun := time.Now()
			if _, err := (conversation{greets}).Play(viewer, 'C'); err != nil || time.Since(begun) != want {
				t.Errorf("%v: greeted after %v, %v; want %v", wait, time.Since(begun), err, want)
			}
			_ = viewer.Close()
			<-done
		})
	}
}

func TestAClientOfAnotherProtocolIsTurnedAway(t *testing.T) {
	const answer = "S HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" +
		"This port speaks VNC. Start a VNC viewer with this address.\n"
	const notVNC = ": reading the first byte: the first byte is neither TLS nor silence"
	for said, c := range map[string]struct {
		refused string
		answer  conversation
	}{
		"A":    {"http" + notVNC, conversation{answer}},
		"G":    {"http" + notVNC, conversation{answer}},
		"Z":    {"http" + notVNC, conversation{answer}},
		"R":    {"garbage" + notVNC, nil}, // a viewer that speaks before it is greeted
		"@":    {"garbage" + notVNC, nil},
		"[":    {"garbage" + notVNC, nil},
		"a":    {"garbage" + notVNC, nil},
		"\x15": {"garbage" + notVNC, nil},
		"\x00": {"garbage" + notVNC, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			begun := time.Now()
			g.converse(join(conversation{"C " + said}, c.answer))
			g.WantRefused(c.refused)
			if took := time.Since(begun); took != refusalLinger { // the viewer of a pipe cannot half-close
				t.Errorf("%q: closed after %v", said, took)
			}
		})
	}
}

func TestAClientThatReadsNoAnswerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		viewer, done := g.connect()
		begun := time.Now()
		if _, err := (conversation{"C G"}).Play(viewer, 'C'); err != nil {
			t.Fatal(err)
		}
		<-done
		if took := time.Since(begun); took != 10*time.Second+refusalLinger {
			t.Errorf("closed after %v", took)
		}
	})
}

func TestAViewerThatLeavesBeforeItsFirstByteIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.converse(conversation{"W 100ms", "X "})
		g.WantRefused("gone: reading the first byte: EOF")
		if n := g.Limiter.Pending(); n != 0 {
			t.Errorf("%d connections are half open", n)
		}
	})
}

// The viewer's first bytes may be in caddy-l4's buffer already, as those that a matcher read.
func TestBytesThatAMatcherHasReadAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		socket, viewer := net.Pipe()
		done := g.handle(layer4.WrapConnection(socket, []byte("GET / HTTP/1.1\r\n"), zap.NewNop()))
		if _, err := (conversation{"S HTTP/1.1 400 Bad Request\r\n"}).Play(viewer, 'C'); err != nil {
			t.Error(err)
		}
		_ = viewer.Close()
		<-done
		g.WantRefused("http: reading the first byte: the first byte is neither TLS nor silence")
	})
	socket, _ := net.Pipe()
	if cx := layer4.WrapConnection(socket, nil, zap.NewNop()); bare(cx) != socket {
		t.Error("the wrapper of caddy-l4 stays without need")
	}
}

// An earlier tls handler of caddy-l4 has ended the viewer's TLS: the innermost server name counts.
func TestTLSThatAnEarlierHandlerTerminatedCounts(t *testing.T) {
	for _, outer := range [][]*tls.ConnectionState{nil, {{ServerName: "outer.test"}}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			name := g.Issue(desktop.Options{}) + "." + domain
			socket, viewer := net.Pipe()
			cx := wrapped(connection{socket, tcpAddr("127.0.0.1:5900"), tcpAddr(viewerAddress)})
			cx.SetVar(layer4.TLSConnectionStatesVarName, append(outer, &tls.ConnectionState{ServerName: name}))
			done := g.handle(cx)
			join(conversation{greets, says38, "S \x01\x01", "C \x01"}, opened, conversation{"X "}).PlayToEnd(t, viewer)
			<-done
			r := g.WantRecord("", "viewer_left")
			workstationName, _ := cx.Replacer().Get("l4.gatehouse.workstation")
			if session, _ := cx.Replacer().Get("l4.gatehouse.session"); workstationName != "one" || session != r.ID {
				t.Errorf("placeholders %v, %v", workstationName, session)
			}
		})
	}
}
