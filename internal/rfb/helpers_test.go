package rfb_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// A dialogue is a list of lines: "S " and what the server says, "C " and what the client says, "T "
// and the host name with which the client begins TLS, "X " when the client hangs up.
type dialogue []string

// play is the client of a dialogue, and checks that the server says its lines and nothing more.
func (d dialogue) play(conn net.Conn) error {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	for _, line := range d {
		who, text := line[0], line[2:]
		switch who {
		case 'C':
			if _, err := io.WriteString(conn, text); err != nil {
				return fmt.Errorf("saying %q: %w", text, err)
			}
		case 'S':
			heard := make([]byte, len(text))
			n, err := io.ReadFull(conn, heard)
			if string(heard[:n]) != text {
				return fmt.Errorf("heard %q, want %q (%v)", heard[:n], text, err)
			}
		case 'T':
			secure := tls.Client(conn, &tls.Config{RootCAs: roots(), ServerName: text})
			if err := secure.Handshake(); err != nil {
				return err
			}
			conn = secure
		case 'X':
			return nil
		}
	}
	if rest, err := io.ReadAll(conn); len(rest) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("heard %q at the end, %v", rest, err)
	}
	return nil
}

// turned is the dialogue with the sides changed.
func (d dialogue) turned() dialogue {
	var turned dialogue
	for _, line := range d {
		turned = append(turned, strings.NewReplacer("S", "C", "C", "S").Replace(line[:1])+line[1:])
	}
	return turned
}

func readN(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// against runs f on the other end of the dialogue, and closes that end when f returns, as callers
// do.
func (d dialogue) against(t *testing.T, f func(net.Conn)) {
	t.Helper()
	ours, theirs := net.Pipe()
	if slices.ContainsFunc(d, func(line string) bool { return line[0] == 'T' }) {
		ours, theirs = loopback(t)
	}
	played := make(chan error, 1)
	go func() { played <- d.play(theirs) }()
	f(ours)
	ours.Close()
	if err := <-played; err != nil {
		t.Error("client:", err)
	}
}

// loopback is a TCP connection: where both sides speak at once, as TLS does with session tickets, a
// pipe stands still.
func loopback(t testing.TB) (a, b net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if b, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if a, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"*.vnc.test"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<37, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func serverTLS() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{certificate()}} }

func roots() *x509.CertPool {
	leaf, err := x509.ParseCertificate(certificate().Certificate[0])
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return pool
}

func clientTLS() *tls.Config { return &tls.Config{RootCAs: roots(), ServerName: "desk.vnc.test"} }

// The challenge of all tests, what a viewer with the password "secret" answers, and a desktop.
var (
	challenge   = [16]byte([]byte("0123456789abcdef"))
	response, _ = rfb.RespondVNC(challenge, "secret")
	desktop     = rfb.Init{Width: 1280, Height: 720, Format: [16]byte{32, 24, 0, 1}, Name: "desk \xff"}
	initBytes   = "\x05\x00\x02\xd0" + "\x20\x18\x00\x01" + strings.Repeat("\x00", 12) + "\x00\x00\x00\x06desk \xff"
)

func sameChallenge() [16]byte { return challenge }

// offer offers what it names: "none", "vncauth", "plain", "x509none", "x509vnc", "x509plain", in
// that order of subtypes.
func offer(names string) rfb.Offer {
	o := rfb.Offer{Challenge: sameChallenge, TLS: serverTLS()}
	for name := range strings.FieldsSeq(names) {
		switch name {
		case "none":
			o.None = true
		case "vncauth":
			o.VNCAuth = true
		case "plain":
			o.SubTypes = append(o.SubTypes, rfb.Plain)
		case "x509none":
			o.SubTypes = append(o.SubTypes, rfb.X509None)
		case "x509vnc":
			o.SubTypes = append(o.SubTypes, rfb.X509Vnc)
		case "x509plain":
			o.SubTypes = append(o.SubTypes, rfb.X509Plain)
		}
	}
	return o
}

// serve is the server's side to its end, with a refusal if there is a reason for one.
func serve(s *rfb.Server, o rfb.Offer, refusal string) (proof rfb.Proof, shared bool, err error) {
	if proof, err = s.Negotiate(o); err != nil {
		return proof, false, err
	}
	if refusal != "" {
		return proof, false, s.Refuse(refusal)
	}
	if err = s.Accept(); err != nil {
		return proof, false, err
	}
	if shared, err = s.ClientInit(); err != nil {
		return proof, false, err
	}
	return proof, shared, s.ServerInit(desktop)
}

// wantKind checks that err is of this package, of the kind, and quotes nothing unescaped.
func wantKind(t *testing.T, err error, kind rfb.Kind) {
	t.Helper()
	var e *rfb.Error
	if !errors.As(err, &e) || e.Kind != kind || rfb.KindOf(err) != kind {
		t.Errorf("%v (%v), want %v", err, rfb.KindOf(err), kind)
	}
	if err != nil && bytes.ContainsFunc([]byte(err.Error()), func(r rune) bool { return r < ' ' || r > '~' }) {
		t.Errorf("%q is not printable", err)
	}
}
