//go:build unix

package clustertest

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// viewTimeout bounds a step of a viewer.
const viewTimeout = 20 * time.Second

// ErrRefused is wrapped if a viewer was not let in.
var ErrRefused = errors.New("refused")

func (c *Cluster) dialTLS(ctx context.Context, addr, name string) (*tls.Conn, error) {
	pem, err := os.ReadFile(c.RootCA())
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}

// Issue asks for an address of a workstation and returns its host name.
func (c Client) Issue(ctx context.Context, workstation string) (host string, err error) {
	a, err := c.Do(ctx, http.MethodPost, "/v1/workstations/"+workstation+"/vnc", "{}")
	if err != nil {
		return "", err
	}
	var body struct {
		URL string `json:"vnc_url"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != http.StatusOK {
		return "", fmt.Errorf("issuing: %s: %w", a, err)
	}
	host, _, _ = strings.Cut(body.URL, ":")
	return host, nil
}

// Viewer is an open session, as a VNC viewer behind a TLS wrapper has it (RFC 6143).
type Viewer struct {
	Name  string // of the desktop
	conn  *tls.Conn
	heard chan struct{} // has one once something was read
	ended chan struct{}
	end   time.Time // set before ended is closed
}

// View opens the desktop of an address at addr, a gateway or the balancer.
func (c *Cluster) View(ctx context.Context, addr, host string) (v *Viewer, err error) {
	conn, err := c.dialTLS(ctx, addr, host)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			conn.Close()
		}
	}()
	if err := conn.SetDeadline(time.Now().Add(viewTimeout)); err != nil {
		return nil, err
	}
	v = &Viewer{conn: conn, heard: make(chan struct{}, 1), ended: make(chan struct{})}
	if v.Name, err = shake(conn); err != nil {
		return nil, err
	}
	if err := v.look(); err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(v, conn)
		v.end = time.Now()
		close(v.ended)
	}()
	return v, nil
}

// shake exchanges versions, chooses no further security and returns the name of the desktop.
func shake(conn net.Conn) (string, error) {
	const version = "RFB 003.008\n"
	if err := hear(conn, version); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, version); err != nil {
		return "", err
	}
	if err := hear(conn, "\x01\x01"); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, "\x01"); err != nil {
		return "", err
	}
	var result uint32
	if err := binary.Read(conn, binary.BigEndian, &result); err != nil {
		return "", err
	}
	if result != 0 {
		reason, _ := text(conn)
		return "", fmt.Errorf("%w: %s", ErrRefused, reason)
	}
	if _, err := io.WriteString(conn, "\x01"); err != nil { // ClientInit: others may view too
		return "", err
	}
	if _, err := io.CopyN(io.Discard, conn, 20); err != nil { // size and pixel format
		return "", err
	}
	return text(conn)
}

// look asks for one pixel and reads the beginning of the answer.
func (v *Viewer) look() error {
	if _, err := v.conn.Write([]byte{3, 0, 0, 0, 0, 0, 0, 1, 0, 1}); err != nil {
		return err
	}
	return hear(v.conn, "\x00")
}

// Write drops what the desktop sends.
func (v *Viewer) Write(p []byte) (int, error) {
	select {
	case v.heard <- struct{}{}:
	default:
	}
	return len(p), nil
}

// RoundTrip moves the pointer, asks for one pixel and returns how long the answer took.
func (v *Viewer) RoundTrip() (time.Duration, error) {
	select {
	case <-v.heard: // the rest of an earlier answer
	default:
	}
	begun := time.Now()
	if _, err := v.conn.Write([]byte{5, 0, 0, 9, 0, 9, 3, 0, 0, 0, 0, 0, 0, 1, 0, 1}); err != nil {
		return 0, err
	}
	select {
	case <-v.heard:
		return time.Since(begun), nil
	case <-v.ended:
		return 0, errors.New("the session has ended")
	case <-time.After(viewTimeout):
		return 0, errors.New("the desktop does not answer")
	}
}

// Close leaves the session.
func (v *Viewer) Close() { v.conn.Close() }

// Ended waits until the other side has ended the session, and returns when that was.
func (v *Viewer) Ended(timeout time.Duration) (time.Time, error) {
	select {
	case <-v.ended:
		return v.end, nil
	case <-time.After(timeout):
		return time.Time{}, fmt.Errorf("the session is open after %v", timeout)
	}
}

func hear(r io.Reader, want string) error {
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil {
		return err
	}
	if !bytes.Equal(got, []byte(want)) {
		return fmt.Errorf("heard %q, want %q", got, want)
	}
	return nil
}

func text(r io.Reader) (string, error) {
	const longest = 1 << 16
	var n uint32
	if err := binary.Read(r, binary.BigEndian, &n); err != nil || n > longest {
		return "", fmt.Errorf("a text of %d bytes: %w", n, err)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return string(b), err
}
