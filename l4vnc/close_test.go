package l4vnc

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// proxied is a connection behind a load balancer, as caddy-l4's proxy_protocol hands it over.
type proxied struct{ net.Conn }

func (p proxied) Raw() net.Conn { return p.Conn }

func TestTheSocketIsFoundBelowEveryWrapper(t *testing.T) {
	socket, other := net.Pipe()
	defer func() { _ = socket.Close(); _ = other.Close() }()
	for name, conn := range map[string]net.Conn{
		"alone":             socket,
		"as handed over":    layer4.WrapConnection(socket, nil, zap.NewNop()),
		"VeNCrypt":          tls.Server(rfb.Replay(layer4.WrapConnection(socket, nil, zap.NewNop()), nil), nil),
		"an earlier tls":    layer4.WrapConnection(tls.Server(layer4.WrapConnection(socket, nil, zap.NewNop()), nil), nil, zap.NewNop()),
		"a PROXY header":    layer4.WrapConnection(proxied{layer4.WrapConnection(socket, nil, zap.NewNop())}, nil, zap.NewNop()),
		"that and VeNCrypt": tls.Server(proxied{socket}, nil),
	} {
		if got := transport(conn); got != socket {
			t.Errorf("%s: %T", name, got)
		}
	}
}

// secured is a connection inside TLS, handshake done, and its peer.
func secured(t *testing.T, ours, theirs net.Conn) (server, client *tls.Conn) {
	t.Helper()
	server = tls.Server(ours, &tls.Config{Certificates: []tls.Certificate{certificate()}, SessionTicketsDisabled: true})
	client = tls.Client(theirs, clientTLS("any."+domain))
	done := make(chan error, 1)
	go func() { done <- client.Handshake() }()
	if err := server.Handshake(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return server, client
}

// What was sent before the end arrives, although the peer has sent bytes that nobody reads: a close
// would reset the connection.
func TestTheEndOfAConnectionIsNoReset(t *testing.T) {
	ours, theirs := loopback(t)
	server, client := secured(t, ours, theirs)
	if _, err := client.Write(make([]byte, 32<<10)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Write([]byte("why")); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		closeGracefully(server, patient, false)
	}()
	if got, err := io.ReadAll(client); string(got) != "why" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := io.ReadAll(theirs); err != nil { // nil is the FIN
		t.Error("below TLS: ", err)
	}
	_ = theirs.Close()
	<-closed // at once: the peer has ended it too
	if _, err := ours.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Error("the connection is still open: ", err)
	}
}

// Behind a TLS record that was cut in two a close_notify would be read as damage.
func TestATornConnectionEndsWithoutACloseNotify(t *testing.T) {
	for _, torn := range []bool{false, true} {
		ours, theirs := loopback(t)
		server, _ := secured(t, ours, theirs)
		vncrelay.HalfClose(server, torn, under)
		if alert, err := io.ReadAll(theirs); err != nil || (len(alert) > 0) == torn {
			t.Errorf("torn: %v; %d bytes and %v", torn, len(alert), err)
		}
	}
}

func TestAPeerThatStaysIsClosedWhenTheLingerIsOver(t *testing.T) {
	for _, deadline := range []time.Duration{0, time.Minute} { // another goroutine may change the deadline
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			_ = ours.SetReadDeadline(time.Now().Add(-time.Second))
			begun := time.Now()
			if deadline > 0 {
				time.AfterFunc(time.Second, func() { _ = ours.SetReadDeadline(begun.Add(deadline)) })
			}
			closeGracefully(ours, 3*time.Second, false)
			if took := time.Since(begun); took != 3*time.Second {
				t.Errorf("closed after %v", took)
			}
			if _, err := theirs.Write([]byte("x")); err == nil {
				t.Error("it is not closed")
			}
		})
	}
}

func TestWhatAPeerCanMakeUsDiscardIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go closeGracefully(ours, time.Hour, false)
		sent, piece := 0, make([]byte, 64<<10)
		for {
			n, err := theirs.Write(piece)
			if sent += n; err != nil {
				break
			}
		}
		if sent != 4<<20 {
			t.Errorf("%d bytes were read", sent)
		}
	})
}

func TestAbortDiscardsWhatWasSent(t *testing.T) {
	ours, theirs := loopback(t)
	server, _ := secured(t, ours, theirs)
	_ = ours.SetWriteBuffer(64 << 10)
	_ = server.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = server.Write(bytes.Repeat([]byte("x"), 8<<20)) // more than fits
	abort(server)
	if _, err := io.Copy(io.Discard, theirs); err == nil {
		t.Error("the connection ended in order")
	}
	pipe, other := net.Pipe()
	abort(pipe)
	if _, err := other.Write([]byte("x")); err == nil {
		t.Error("a pipe is not closed")
	}
}
