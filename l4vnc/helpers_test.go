package l4vnc

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/vncrelaytest"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// What conversations are made of.
type (
	conversation = vncrelaytest.Conversation
	options      = vncrelaytest.Options
)

// patient is a time that only a test that fails waits out.
const patient = 20 * time.Second

const (
	domain = vncrelaytest.Domain

	greets   = vncrelaytest.Greets
	says38   = vncrelaytest.Says38
	says37   = "C RFB 003.007\n"
	says33   = vncrelaytest.Says33
	accepted = vncrelaytest.Accepted
	initOne  = vncrelaytest.InitOne
	pointer  = vncrelaytest.Pointer
	request  = vncrelaytest.Request

	subX509None  = "\x04"
	subX509Vnc   = "\x05"
	subX509Plain = "\x06"
)

var (
	refusal, counted, join   = vncrelaytest.Refusal, vncrelaytest.Counted, vncrelaytest.Join
	desktopNone, desktopInit = vncrelaytest.DesktopNone, vncrelaytest.DesktopInit
	readToEnd                = vncrelaytest.ReadToEnd
	certificate, roots       = vncrelaytest.Certificate, vncrelaytest.Roots
	clientTLS, loopback      = vncrelaytest.ClientTLS, vncrelaytest.Loopback

	opened = conversation{accepted, "C \x00", initOne, "C " + pointer, "S " + pointer}
)

// tlsFirst is a viewer behind a TLS wrapper whose server name has the form of a token.
func tlsFirst(name string) conversation {
	return conversation{"T " + name, greets, says38, "S \x01\x01", "C \x01"}
}

// veNCrypt is a viewer that waits for the greeting and chooses a sub-type.
func veNCrypt(sub, name string) conversation {
	return conversation{greets, says38, "S \x01\x13", "C \x13", "S \x00\x02", "C \x00\x02",
		"S \x00\x02\x00\x00\x01\x04\x00\x00\x01\x06", "C \x00\x00\x01" + sub, "S \x01", "T " + name}
}

// plain shows a password.
func plain(password string) string {
	return "C " + string(binary.BigEndian.AppendUint32(make([]byte, 4), uint32(len(password)))) + password
}

// fakeGateway is a gateway behind the handler.
type fakeGateway struct {
	*vncrelaytest.Gateway
	handler *Handler
}

func newGateway(t *testing.T, o options) *fakeGateway {
	t.Helper()
	g := &fakeGateway{vncrelaytest.New(t, o), new(Handler)}
	if err := g.handler.configure(domain); err != nil {
		t.Fatal(err)
	}
	// Without tickets: over a pipe, a write waits for the peer to read.
	g.handler.settings.tls = &tls.Config{Certificates: []tls.Certificate{certificate()}, SessionTicketsDisabled: true}
	g.handler.settings.dial = g.Dial
	g.handler.gateway = g
	g.handler.current = func(context.Context) vncrelay.Gateway { return g }
	return g
}

// connection is a pipe with addresses.
type connection struct {
	net.Conn
	local, remote net.Addr
}

func (c connection) LocalAddr() net.Addr  { return c.local }
func (c connection) RemoteAddr() net.Addr { return c.remote }

func tcpAddr(text string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text)) }

const viewerAddress = "192.0.2.1:40000"

// connect lets a viewer connect from viewerAddress. done is closed when the handler has returned.
func (g *fakeGateway) connect() (viewer net.Conn, done <-chan struct{}) {
	return g.connectFrom(viewerAddress)
}

func (g *fakeGateway) connectFrom(address string) (viewer net.Conn, done <-chan struct{}) {
	socket, viewer := net.Pipe()
	return viewer, g.handle(layer4.WrapConnection(connection{socket, tcpAddr("127.0.0.1:5900"), tcpAddr(address)}, nil, zap.NewNop()))
}

// handle runs the handler as caddy-l4 does.
func (g *fakeGateway) handle(cx *layer4.Connection) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := g.handler.Handle(cx, nil); err != nil {
			g.T.Errorf("the handler returned %v", err)
		}
		_ = cx.Close()
	}()
	return done
}

// converse connects a viewer, plays its side to the end, and waits for the handler.
func (g *fakeGateway) converse(c conversation) {
	g.T.Helper()
	viewer, done := g.connect()
	c.PlayToEnd(g.T, viewer)
	<-done
}
