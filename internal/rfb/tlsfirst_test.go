package rfb_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

func TestTLSFirstGivesTheNameAndTheInside(t *testing.T) {
	near, far := loopback(t)
	go func() {
		conn := tls.Client(far, clientTLS())
		_, _ = io.WriteString(conn, "inside")
	}()
	inside, name, err := rfb.TLSFirst(near, serverTLS(), 0)
	if err != nil || name != "desk.vnc.test" {
		t.Fatalf("name %q, %v", name, err)
	}
	if got, err := readN(inside, len("inside")); string(got) != "inside" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestTLSFirstNamesNoHostInItsErrors(t *testing.T) {
	const token = "k3jtoken"
	for name, config := range map[string]*tls.Config{
		"no certificate": {GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
			return nil, errors.New("no certificate for " + h.ServerName)
		}},
		"old TLS": oldTLS(),
	} {
		near, far := loopback(t)
		go func(far net.Conn) {
			old := &tls.Config{InsecureSkipVerify: true, ServerName: token + ".vnc.test", MinVersion: tls.VersionTLS11}
			if name == "old TLS" {
				old.MaxVersion = tls.VersionTLS11
			}
			_ = tls.Client(far, old).Handshake()
			far.Close()
		}(far)
		_, _, err := rfb.TLSFirst(near, config, 0)
		wantKind(t, err, rfb.KindTLS)
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the error holds the token: %v", name, err)
		}
	}
}

func TestTLSFirstEndsWithTheConnection(t *testing.T) {
	near, far := loopback(t)
	far.Close()
	_, _, err := rfb.TLSFirst(near, serverTLS(), 0)
	wantKind(t, err, rfb.KindGone)
}

// A long ClientHello that is only announced is not buffered.
func TestATLSHandshakeIsBounded(t *testing.T) {
	near, far := loopback(t)
	hello := append([]byte{1, 0, 0xff, 0xff}, make([]byte, 48<<10)...)
	go func() {
		for piece := range slices.Chunk(hello, 8<<10) {
			_, _ = far.Write(append([]byte{22, 3, 1, byte(len(piece) >> 8), byte(len(piece))}, piece...))
		}
	}()
	_, _, err := rfb.TLSFirst(near, serverTLS(), time.Second)
	wantKind(t, err, rfb.KindTooLong)
}

func TestWhatFollowsATLSHandshakeIsNotBounded(t *testing.T) {
	near, far := loopback(t)
	const long = 100 << 10
	go func() {
		_, _ = tls.Client(far, clientTLS()).Write(make([]byte, long))
	}()
	inside, _, err := rfb.TLSFirst(near, serverTLS(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readN(inside, long); err != nil {
		t.Error(err)
	}
}
