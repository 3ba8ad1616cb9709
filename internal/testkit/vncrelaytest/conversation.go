package vncrelaytest

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// Conversation is a list of lines: "S " and what the server says, "C " and what the client says,
// "T " and the host name with which the client begins TLS, "W " and how long both are silent,
// "E " when the server ends its direction, "X " when the client closes.
type Conversation []string

// Play takes one side, 'S' or 'C'. It returns the connection to go on with.
func (c Conversation) Play(conn net.Conn, side byte) (net.Conn, error) {
	for i, line := range c {
		what, text := line[0], line[2:]
		switch {
		case what == side && (what == 'S' || what == 'C'):
			if _, err := io.WriteString(conn, text); err != nil {
				return conn, fmt.Errorf("line %d: writing %q: %w", i, text, err)
			}
		case what == 'S' || what == 'C':
			got := make([]byte, len(text))
			if n, err := io.ReadFull(conn, got); string(got[:n]) != text {
				return conn, fmt.Errorf("line %d: read %q, want %q (%w)", i, got[:n], text, err)
			}
		case what == 'T' && side == 'C':
			secure := tls.Client(&untilEnd{Conn: conn}, ClientTLS(text))
			if err := secure.Handshake(); err != nil {
				return conn, fmt.Errorf("line %d: %w", i, err)
			}
			conn = secure
		case what == 'T':
			secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{Certificate()}, SessionTicketsDisabled: true})
			if err := secure.Handshake(); err != nil {
				return conn, fmt.Errorf("line %d: %w", i, err)
			}
			conn = secure
		case what == 'W':
			silence, _ := time.ParseDuration(text)
			<-time.After(silence) // the bubble's clock
		case what == 'E' && side == 'C':
			if rest, err := ReadToEnd(conn); err != nil || len(rest) > 0 {
				return conn, fmt.Errorf("line %d: read %q, %w; want the end", i, rest, err)
			}
		case what == 'X' && side == 'C':
			_ = conn.Close()
		}
	}
	return conn, nil
}

// PlayToEnd plays the client, and checks that nothing follows but a clean end.
func (c Conversation) PlayToEnd(t *testing.T, conn net.Conn) {
	t.Helper()
	defer func() { _ = conn.Close() }()
	last, err := c.Play(conn, 'C')
	if err != nil {
		t.Error("viewer: ", err)
		return
	}
	if len(c) > 0 && c[len(c)-1][0] == 'X' {
		return
	}
	if rest, err := ReadToEnd(last); err != nil || len(rest) > 0 {
		t.Errorf("viewer: read %q at the end, %v", rest, err)
	}
}

// untilEnd notes the end of a connection below TLS.
type untilEnd struct {
	net.Conn
	ended bool
}

func (u *untilEnd) Read(p []byte) (int, error) {
	n, err := u.Conn.Read(p)
	u.ended = u.ended || err != nil
	return n, err
}

var errNoCloseNotify = errors.New("the connection ended without a close_notify")

// ReadToEnd reads what follows. Inside TLS the end must be a close_notify: crypto/tls reports the
// end of the connection below as io.EOF too.
func ReadToEnd(conn net.Conn) (rest []byte, err error) {
	rest, err = io.ReadAll(conn)
	if secure, ok := conn.(*tls.Conn); ok && err == nil {
		if below, ok := secure.NetConn().(*untilEnd); ok && below.ended {
			err = errNoCloseNotify
		}
	}
	return rest, err
}

// The pieces of conversations.
const (
	Greets   = "S RFB 003.008\n"
	Says38   = "C RFB 003.008\n"
	Says33   = "C RFB 003.003\n"
	Accepted = "S \x00\x00\x00\x00"
	InitOne  = "S \x05\x00\x02\xd0\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00\x00\x00\x00\x03one"
	Pointer  = "\x05\x00\x00\x07\x00\x09"                 // a PointerEvent, without S or C
	Request  = "\x03\x01\x00\x00\x00\x00\x05\x00\x02\xd0" // a FramebufferUpdateRequest for what has changed
)

// The two parts of a workstation that wants no password.
var (
	DesktopNone = Conversation{Greets, Says38, "S \x01\x01", "C \x01", Accepted}
	DesktopInit = Conversation{"C \x01", InitOne} // the gateway always asks to share
)

// Refusal is a SecurityResult with its reason.
func Refusal(text string) string { return "S \x00\x00\x00\x01" + Counted(text) }

// Counted is a text behind its length.
func Counted(text string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(text)))) + text
}

// Join is one conversation of several.
func Join(parts ...Conversation) (c Conversation) {
	for _, p := range parts {
		c = append(c, p...)
	}
	return c
}
