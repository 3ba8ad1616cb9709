package harness

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// Conn is a viewer, or the workstation of a test, that speaks byte by byte what
// RFC 6143 and VeNCrypt say; nothing of it is shared with the gateway's code.
// After its first error it does nothing more.
type Conn struct {
	net.Conn
	roots func() *x509.CertPool
	below *belowTLS // nil before TLS
	shows string    // of a workstation: its ServerInit, "" for that of all tests
	Err   error
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

// ViewerAddress is the address of viewers that may fail more often than is free for one address.
const ViewerAddress = "127.0.0.9"

// Leave closes the connection, if there is one.
func (w *Conn) Leave() {
	if w.Conn != nil {
		_ = w.Close()
	}
}

// Fail sets the error, if it is the first.
func (w *Conn) Fail(format string, a ...any) {
	if w.Err == nil {
		w.Err = fmt.Errorf(format, a...)
	}
}

// Send writes bytes; numbers are one byte each.
func (w *Conn) Send(what ...any) *Conn {
	if w.Err != nil {
		return w
	}
	if _, err := w.Write(Bytes(what)); err != nil {
		w.Fail("sending %q: %w", what, err)
	}
	return w
}

// Expect reads exactly these bytes.
func (w *Conn) Expect(what ...any) *Conn {
	want := Bytes(what)
	if got := w.ReadN(len(want)); w.Err == nil && !bytes.Equal(got, want) {
		w.Fail("read %q, want %q", got, want)
	}
	return w
}

// ReadN reads n bytes.
func (w *Conn) ReadN(n int) []byte {
	b := make([]byte, n)
	if w.Err != nil {
		return b
	}
	if _, err := io.ReadFull(w, b); err != nil {
		w.Fail("reading %d bytes: %w", n, err)
	}
	return b
}

// Uint32 reads a number.
func (w *Conn) Uint32() uint32 { return binary.BigEndian.Uint32(w.ReadN(4)) }

// Text reads a length and that many bytes.
func (w *Conn) Text() string {
	n := w.Uint32()
	if n > 1<<16 {
		w.Fail("a text of %d bytes", n)
		return ""
	}
	return string(w.ReadN(int(n)))
}

// Bytes are the pieces in one: numbers of type int are one byte each.
func Bytes(what []any) (b []byte) {
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

// StartTLS goes on inside TLS; without a name no server name is sent.
func (w *Conn) StartTLS(name string) *Conn {
	return w.StartTLSWith(&tls.Config{ServerName: name, MinVersion: tls.VersionTLS12, RootCAs: w.roots()})
}

// StartTLSWith is StartTLS with a configuration.
func (w *Conn) StartTLSWith(config *tls.Config) *Conn {
	if w.Err != nil {
		return w
	}
	if config.ServerName == "" {
		config.InsecureSkipVerify = true // the certificate is wild, and there is no name to hold it against
	}
	w.below = &belowTLS{Conn: w.Conn}
	conn := tls.Client(w.below, config)
	if err := conn.Handshake(); err != nil {
		w.Fail("TLS: %w", err)
		return w
	}
	w.Conn = conn
	return w
}

// End reads to the end, which must be a clean one: a close_notify inside TLS, and no reset.
// crypto/tls reports a FIN without a close_notify as io.EOF too, so belowTLS tells them apart.
func (w *Conn) End() {
	if w.Err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, w); err != nil {
		w.Fail("the end: %w", err)
	}
	if w.below != nil && w.below.ended {
		w.Fail("the connection ended without a close_notify")
	}
	w.Leave()
}

// ReadToEnd reads in the background and sends how the connection ended.
func (w *Conn) ReadToEnd() (end chan error) {
	end = make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, w)
		end <- err
	}()
	return end
}
