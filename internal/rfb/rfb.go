// Package rfb speaks the handshakes of the RFB protocol (RFC 6143), VeNCrypt included, on both
// sides of a gateway, and filters what a viewer sends afterwards.
//
//	viewer                             gateway                                  workstation
//	  |   Server: greeting, security type  |                                        |
//	  |<---------------------------------->|  Connect: the same, as a client        |
//	  |                                    |<-------------------------------------->|
//	  |   SecurityResult, ClientInit,      |                                        |
//	  |   ServerInit                       |                                        |
//	  |<---------------------------------->|                                        |
//	  |   messages ----------------------> Filter --------------------------------->|
//	  |<-------------------------------------------------------------- bytes, as they are
//
// The viewer's side is in steps, so that the workstation is reached before the viewer is accepted:
// a reason can be shown only before that.
//
//	s := rfb.NewServer(conn, rfb.Timeouts{})
//	proof, err := s.Negotiate(offer)                          // what the viewer shows
//	desktop, err := rfb.Connect(backend, login, 0)            // else s.Refuse("…")
//	err = s.Accept()
//	shared, err := s.ClientInit()
//	err = s.ServerInit(desktop.Init)
//	// relay between s.Conn() and desktop.Conn
//
// No read takes more than the bytes of its step: after a handshake no byte is held back. The
// connection is the caller's, who always closes it. Every step has a deadline; none is left on the
// connection when a method returns. Every error is an [*Error] with a [Kind].
package rfb

import (
	"fmt"
	"time"
)

// The opening of a connection (RFC 6143, section 7.1; 3.3 and 3.7 in its appendix A):
//
//	server                                  client
//	"RFB 003.008\n"                 ->
//	                                <-      "RFB 003.008\n"      the version both then speak
//
//	3.7, 3.8:
//	u8 n, n types                   ->                           n = 0: u32 length and a reason follow
//	                                <-      u8 type
//	3.3:
//	u32 type                        ->                           0: u32 length and a reason follow
//
//	… what the type needs (vncauth.go, vencrypt.go) …
//
//	u32 result                      ->                           not for None before 3.8
//	u32 length, reason              ->                           3.8 only, when the result is not 0
//
//	                                <-      u8 shared            ClientInit
//	u16 width, u16 height           ->                           ServerInit
//	16 bytes pixel format
//	u32 length, name
//
// All numbers are big endian.
const (
	typeInvalid  = 0
	typeNone     = 1
	typeVNCAuth  = 2
	typeVeNCrypt = 19

	resultOK      = 0
	resultFailed  = 1
	resultTooMany = 2 // not of RFC 6143; TightVNC, UltraVNC and TigerVNC know it
)

const (
	// StepTimeout is the default for steps that programs take at once.
	StepTimeout = 10 * time.Second
	// PersonTimeout is the default for steps in which a viewer may ask its user: for certificate
	// files, whether to trust a certificate, for a password.
	PersonTimeout = 2 * time.Minute

	// MaxReason bounds, in bytes, the reason of a refusal, in both directions: UltraVNC reads no
	// longer one.
	MaxReason = 4095
	// MaxName bounds, in bytes, the name of a desktop.
	MaxName = 4096
	// MaxCredential bounds, in bytes, a user name and a password of X509Plain.
	MaxCredential = 255
)

// Version is a version of the protocol. Greater is newer.
type Version uint8

// The versions in use. Others mean one of these: 3.4, 3.5 and 3.6 mean 3.3, and those above 3.8
// mean 3.8.
const (
	Version33 Version = iota + 1
	Version37
	Version38
)

// String is "3.3", "3.7" or "3.8", and "unknown" before a peer has sent its own.
func (v Version) String() string {
	switch v {
	case Version33:
		return "3.3"
	case Version37:
		return "3.7"
	case Version38:
		return "3.8"
	}
	return "unknown"
}

// greeting is the version message.
func (v Version) greeting() string {
	switch v {
	case Version33:
		return "RFB 003.003\n"
	case Version37:
		return "RFB 003.007\n"
	}
	return "RFB 003.008\n"
}

// Security is how a connection was authenticated and protected.
type Security uint8

// The closed set of Security. The X509 ones are those of VeNCrypt, inside TLS with a certificate.
const (
	SecurityNone Security = iota + 1
	SecurityVNCAuth
	SecurityX509None
	SecurityX509Vnc
	SecurityX509Plain
	SecurityPlain // of VeNCrypt too, on a connection that came inside TLS
)

// String is the name of s, usable as a label.
func (s Security) String() string {
	switch s {
	case SecurityNone:
		return "None"
	case SecurityVNCAuth:
		return "VNCAuth"
	case SecurityX509None:
		return "X509None"
	case SecurityX509Vnc:
		return "X509Vnc"
	case SecurityX509Plain:
		return "X509Plain"
	case SecurityPlain:
		return "Plain"
	}
	return "unknown"
}

// SubType is a security type inside VeNCrypt.
type SubType uint32

// The sub-types that are spoken here. Those of anonymous TLS (257-259) cannot be had from
// crypto/tls. Plain brings no TLS of its own: it is for connections that came inside TLS.
const (
	Plain     SubType = 256
	X509None  SubType = 260
	X509Vnc   SubType = 261
	X509Plain SubType = 262
)

// Security is what t amounts to, 0 for a sub-type that is not spoken here.
func (t SubType) Security() Security {
	switch t {
	case Plain:
		return SecurityPlain
	case X509None:
		return SecurityX509None
	case X509Vnc:
		return SecurityX509Vnc
	case X509Plain:
		return SecurityX509Plain
	}
	return 0
}

// String is the name of t, or its number.
func (t SubType) String() string {
	if s := t.Security(); s != 0 {
		return s.String()
	}
	return fmt.Sprint(uint32(t))
}
