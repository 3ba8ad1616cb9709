package tests

import (
	"bytes"
	"crypto/des"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"net"
	"strconv"
	"time"
)

// wire is a viewer, or the workstation of a test, that speaks byte by byte what
// RFC 6143 and VeNCrypt say; nothing of it is shared with the gateway's code.
// After its first error it does nothing more.
type wire struct {
	net.Conn
	harness *harness
	below   *belowTLS // nil before TLS
	err     error
}

// belowTLS notes the end of the connection below TLS.
type belowTLS struct {
	net.Conn
	ended bool
}

func (b *belowTLS) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	b.ended = b.ended || err != nil
	return n, err
}

// ownAddress is the address of viewers that may fail more often than is free for one address.
const ownAddress = "127.0.0.9"

// dialVNC connects to the VNC port from an address of the loopback network.
func (h *harness) dialVNC(from string) *wire {
	dialer := net.Dialer{Timeout: waitLimit}
	if from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	conn, err := dialer.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(h.ports[2])))
	if err != nil {
		return &wire{harness: h, err: err}
	}
	w := &wire{Conn: conn, harness: h}
	_ = conn.SetDeadline(time.Now().Add(waitLimit)) // a broken connection fails the next read
	return w
}

func (w *wire) leave() {
	if w.Conn != nil {
		_ = w.Close()
	}
}

func (w *wire) fail(format string, a ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, a...)
	}
}

// say writes bytes; numbers are one byte each.
func (w *wire) say(what ...any) *wire {
	if w.err != nil {
		return w
	}
	if _, err := w.Write(flat(what)); err != nil {
		w.fail("saying %q: %w", what, err)
	}
	return w
}

// hear reads exactly these bytes.
func (w *wire) hear(what ...any) *wire {
	want := flat(what)
	if got := w.take(len(want)); w.err == nil && !bytes.Equal(got, want) {
		w.fail("heard %q, want %q", got, want)
	}
	return w
}

// take reads n bytes.
func (w *wire) take(n int) []byte {
	b := make([]byte, n)
	if w.err != nil {
		return b
	}
	if _, err := io.ReadFull(w, b); err != nil {
		w.fail("hearing %d bytes: %w", n, err)
	}
	return b
}

func (w *wire) number() uint32 { return binary.BigEndian.Uint32(w.take(4)) }

// text reads a length and that many bytes.
func (w *wire) text() string {
	n := w.number()
	if n > 1<<16 {
		w.fail("a text of %d bytes", n)
		return ""
	}
	return string(w.take(int(n)))
}

func flat(what []any) (b []byte) {
	for _, piece := range what {
		switch piece := piece.(type) {
		case string:
			b = append(b, piece...)
		case []byte:
			b = append(b, piece...)
		case uint32:
			b = binary.BigEndian.AppendUint32(b, piece)
		case int:
			b = append(b, byte(piece))
		}
	}
	return b
}

// greeted exchanges versions and chooses a type of the list.
func (w *wire) greeted(version string, choice int) *wire {
	w.hear("RFB 003.008\n").say(version)
	types := w.take(int(w.take(1)[0]))
	if !bytes.Contains(types, []byte{byte(choice)}) {
		w.fail("offered types %v, not %d", types, choice)
	}
	return w.say(choice)
}

// veNCrypt chooses a sub-type, up to the TLS handshake; it returns what was offered.
func (w *wire) veNCrypt(sub uint32) (offered []uint32) {
	w.hear(0, 2).say(0, 2).hear(0)
	for range w.take(1)[0] {
		offered = append(offered, w.number())
	}
	w.say(sub).hear(1)
	return offered
}

// startTLS goes on inside TLS; without a name no server name is sent.
func (w *wire) startTLS(name string) *wire {
	return w.startTLSWith(&tls.Config{ServerName: name, MinVersion: tls.VersionTLS12, RootCAs: w.harness.roots()})
}

func (w *wire) startTLSWith(config *tls.Config) *wire {
	if w.err != nil {
		return w
	}
	if config.ServerName == "" {
		config.InsecureSkipVerify = true // the certificate is wild, and there is no name to hold it against
	}
	w.below = &belowTLS{Conn: w.Conn}
	conn := tls.Client(w.below, config)
	if err := conn.Handshake(); err != nil {
		w.fail("TLS: %w", err)
		return w
	}
	w.Conn = conn
	return w
}

// plain shows user and password of X509Plain.
func (w *wire) plain(user, password string) *wire {
	return w.say(uint32(len(user)), uint32(len(password)), user, password)
}

// answerChallenge does VNC authentication.
func (w *wire) answerChallenge(password string) *wire {
	challenge := w.take(16)
	return w.say(vncResponse(challenge, password))
}

// vncResponse encrypts a challenge with the password, whose bits DES takes in
// the other order (RFC 6143, 7.2.2).
func vncResponse(challenge []byte, password string) []byte {
	key := make([]byte, 8)
	copy(key, password)
	for i, b := range key {
		key[i] = bits.Reverse8(b)
	}
	block, err := des.NewCipher(key)
	if err != nil {
		panic(err) // a key of 8 bytes
	}
	response := make([]byte, 16)
	block.Encrypt(response[:8], challenge[:8])
	block.Encrypt(response[8:], challenge[8:])
	return response
}

// accepted hears that all is well and asks for the desktop.
func (w *wire) accepted() *wire { return w.hear(uint32(0)).desktop(0) }

// desktop sends the ClientInit and wants the ServerInit of a test's workstation.
func (w *wire) desktop(shared int) *wire { return w.say(shared).hear(serverInit) }

// refusal hears that it is not let in, and why; then the end.
func (w *wire) refusal() string {
	w.hear(uint32(1))
	reason := w.text()
	w.over()
	return reason
}

// over reads to the end, which must be a clean one: a close_notify inside TLS, and no reset.
// crypto/tls reports a FIN without a close_notify as io.EOF too, so belowTLS tells them apart.
func (w *wire) over() {
	if w.err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, w); err != nil {
		w.fail("the end: %w", err)
	}
	if w.below != nil && w.below.ended {
		w.fail("the connection ended without a close_notify")
	}
	w.leave()
}

// echo sends a pointer event, which the test's workstation sends back.
func (w *wire) echo(x, y int) *wire {
	event := []byte{5, 0, byte(x >> 8), byte(x), byte(y >> 8), byte(y)}
	return w.say(event).hear(event)
}
