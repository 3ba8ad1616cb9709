package rfb

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
)

// Kind is what went wrong, one of a closed set usable as a metric label.
type Kind uint8

// The kinds of errors.
const (
	// KindOther is of errors that are not this package's, and of misuse of it.
	KindOther Kind = iota
	// KindGarbage is of bytes that are not RFB.
	KindGarbage
	// KindHTTP is of a peer that speaks HTTP.
	KindHTTP
	// KindLateTLS is of a TLS record where a version was due: the viewer does TLS first, and was
	// greeted too early.
	KindLateTLS
	// KindVersion is of a version of RFB or VeNCrypt that is not spoken here.
	KindVersion
	// KindTooOld is of a viewer of RFB 3.3 that can do none of the types that are offered. It was
	// sent the reason.
	KindTooOld
	// KindTimeout is of a step that took too long.
	KindTimeout
	// KindGone is of a connection that ended.
	KindGone
	// KindNotOffered is of a viewer that chose a type that was not offered.
	KindNotOffered
	// KindTooLong is of a message that is longer than it may be.
	KindTooLong
	// KindPlaintext is of bytes in clear where TLS was due.
	KindPlaintext
	// KindTLS is of a TLS handshake or connection that failed.
	KindTLS
	// KindRefused is of a workstation that refused with a reason, as [*RefusedError].
	KindRefused
	// KindBlacklisted is of a workstation that refuses this address for a while, after failures, as
	// [*RefusedError].
	KindBlacklisted
	// KindWrongPassword is of a workstation that refused the login, as [ErrWrongPassword].
	KindWrongPassword
	// KindNoSecurity is of a workstation that offers nothing that may be used, as [ErrNoSecurity].
	KindNoSecurity
	// KindMessage is of a viewer's message whose type or form is not known, so that its end cannot
	// be found.
	KindMessage

	kinds = iota
)

var kindNames = [kinds]string{"other", "garbage", "http", "late_tls", "version", "too_old", "timeout", "gone",
	"not_offered", "too_long", "plaintext", "tls", "refused", "blacklisted", "wrong_password", "no_security", "message"}

// String is the label of k.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[KindOther]
}

// KindOf is the kind of an error of this package, and KindOther for any other.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindOther
}

// Error is the type of all errors of this package. Its text holds a peer's bytes only escaped, and
// no credentials.
type Error struct {
	Kind Kind
	Step string // what was being done, as a gerund: "reading the security type"
	Err  error  // the cause
}

func (e *Error) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var (
	// ErrWrongPassword is returned by [Connect] when the workstation refuses the user and password.
	ErrWrongPassword = errors.New("wrong user or password")
	// ErrNoSecurity is returned by [Connect] when the workstation offers no security type that the
	// login may use.
	ErrNoSecurity = errors.New("no security type in common")
	// ErrMisuse is returned for calls out of their order, and for an [Offer] that cannot be made.
	ErrMisuse = errors.New("not possible here")
)

// RefusedError is a refusal with its reason, as the peer worded it.
type RefusedError struct {
	Reason string // printable ASCII, at most MaxReason bytes, "" if none was given
}

func (e *RefusedError) Error() string {
	if e.Reason == "" {
		return "refused without a reason"
	}
	return "refused: " + e.Reason
}

func fail(kind Kind, step, format string, a ...any) error {
	return &Error{Kind: kind, Step: step, Err: fmt.Errorf(format, a...)}
}

// lost is the error of a read or write on a connection.
func lost(step string, err error) *Error {
	kind := KindGone
	var timeout net.Error
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		kind = KindTimeout
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	case ofTLS(err):
		kind = KindTLS
	}
	return &Error{Kind: kind, Step: step, Err: err}
}

// ofTLS reports an alert, sent or received, or a record that is none.
func ofTLS(err error) bool {
	var op *net.OpError
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

// lostTLS is the error of a TLS handshake: unless the connection ended, TLS failed.
func lostTLS(step string, err error) error {
	lost := lost(step, err)
	if lost.Kind == KindGone && !gone(err) {
		lost.Kind = KindTLS
	}
	return lost
}

// gone reports the end of a connection, in order or not.
func gone(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write" || op.Op == "set")
}

// nameless keeps the host name of a viewer, which may be its secret, out of an error. Errors of a
// certificate source often have it; those of crypto/tls do not.
func nameless(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == KindTLS && !ofTLS(e.Err) && !strings.HasPrefix(e.Err.Error(), "tls: ") {
		e.Err = errors.New("no certificate or configuration for this viewer")
	}
	return err
}

// printable makes printable ASCII of a text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
