package rfb

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"time"
)

// VeNCrypt 0.2, security type 19:
//
//	server                                  client
//	u8 0, u8 2                      ->
//	                                <-      u8 0, u8 2       0.0: cannot
//	u8 0                            ->                       255: will not
//	u8 n, n times u32 sub-type      ->
//	                                <-      u32 sub-type
//	u8 1                            ->                       0: not that; nothing for Plain
//	                 … TLS handshake, the client begins …
//	X509Vnc:   VNC Authentication (vncauth.go)
//	Plain, X509Plain:               <-      u32 user length, u32 password length, user, password
//
// Only TLS records may follow the 1. Bytes that come earlier, in clear, must not be taken for bytes
// inside TLS. Nothing is read ahead here, so they cannot be; they only have a Kind of their own for
// the operator.
const (
	venCryptMajor = 0
	venCryptMinor = 2

	venCryptAgreed   = 0
	venCryptDeclined = 255

	subTypeTaken   = 1
	subTypeRefused = 0

	recordHandshake = 0x16 // TLS content type (RFC 8446, section 5.1)
	recordMajor     = 0x03 // of every TLS version on the wire
	recordHeader    = 5

	maxSubTypes = 255 // of a one-byte count
)

// handshaking is the step of TLS.
const handshaking = "doing the TLS handshake"

// startTLS does the server's side of the TLS handshake, each of its two waits within d: for the
// first record, behind which a viewer may ask for certificate files, and for the rest.
func (w *wire) startTLS(config *tls.Config, d time.Duration) (serverName string, err error) {
	w.within(d)
	head, err := w.readNew("waiting for TLS", recordHeader)
	if err != nil {
		return "", err
	}
	if head[0] != recordHandshake || head[1] != recordMajor {
		return "", fail(KindPlaintext, "waiting for TLS", "%+q instead", head)
	}
	return w.serveTLS(Replay(w.conn, head), config, d)
}

// serveTLS does the server's side of the TLS handshake on conn within d, and goes on inside.
func (w *wire) serveTLS(conn net.Conn, config *tls.Config, d time.Duration) (serverName string, err error) {
	raw := &bounded{Conn: conn, left: maxHandshake}
	server := tls.Server(raw, config)
	if err := w.handshake(server, d); err != nil {
		return "", nameless(err)
	}
	raw.left = unbounded
	return w.secure(server)
}

// handshake completes the TLS handshake of conn within d.
func (w *wire) handshake(conn *tls.Conn, d time.Duration) error {
	w.within(d)
	err := w.undue
	if err == nil {
		err = conn.Handshake()
	}
	if err != nil {
		if errors.Is(err, errTooLong) {
			return &Error{Kind: KindTooLong, Step: handshaking, Err: err}
		}
		return lostTLS(handshaking, err)
	}
	return nil
}

// secure continues on conn. It checks the negotiated version, as a configuration may return others
// (GetConfigForClient).
func (w *wire) secure(conn *tls.Conn) (serverName string, err error) {
	state := conn.ConnectionState()
	if state.Version < tls.VersionTLS12 {
		return "", fail(KindTLS, handshaking, "%s is too old", tls.VersionName(state.Version))
	}
	w.conn = conn
	return state.ServerName, nil
}

// readPlain reads the credentials of Plain and X509Plain.
func (w *wire) readPlain() (user, password string, err error) {
	const step = "reading the user and password"
	b, err := w.read(step, 8)
	if err != nil {
		return "", "", err
	}
	users, passwords := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if users > MaxCredential || passwords > MaxCredential {
		return "", "", fail(KindTooLong, step, "%d and %d bytes, more than %d", users, passwords, MaxCredential)
	}
	b, err = w.readNew(step, int(users+passwords))
	if err != nil {
		return "", "", err
	}
	return string(b[:users]), string(b[users:]), nil
}

// writePlain writes them, as bounded by Connect.
func (w *wire) writePlain(user, password string) error {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(user)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(password)))
	b = append(b, user...)
	return w.write("sending the user and password", append(b, password...))
}
