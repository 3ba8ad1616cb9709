package harness

import (
	"bytes"
	"crypto/des"
	"errors"
	"io"
	"math/bits"
	"os"
	"time"
)

// Greet exchanges versions and chooses a type of the list.
func (w *Conn) Greet(version string, choice int) *Conn {
	w.Expect("RFB 003.008\n").Send(version)
	types := w.ReadN(int(w.ReadN(1)[0]))
	if !bytes.Contains(types, []byte{byte(choice)}) {
		w.Fail("offered types %v, not %d", types, choice)
	}
	return w.Send(choice)
}

// VeNCrypt chooses a sub-type, up to the TLS handshake; it returns what was offered.
func (w *Conn) VeNCrypt(sub uint32) (offered []uint32) {
	w.Expect(0, 2).Send(0, 2).Expect(0)
	for range w.ReadN(1)[0] {
		offered = append(offered, w.Uint32())
	}
	w.Send(sub).Expect(1)
	return offered
}

// Plain shows user and password of X509Plain.
func (w *Conn) Plain(user, password string) *Conn {
	return w.Send(uint32(len(user)), uint32(len(password)), user, password)
}

// AnswerChallenge does VNC authentication.
func (w *Conn) AnswerChallenge(password string) *Conn {
	challenge := w.ReadN(16)
	return w.Send(vncResponse(challenge, password))
}

// Accepted hears that all is well and asks for the desktop.
func (w *Conn) Accepted() *Conn { return w.Expect(uint32(0)).Desktop(0) }

// Desktop sends the ClientInit and wants the ServerInit of a test's workstation.
func (w *Conn) Desktop(shared int) *Conn { return w.Send(shared).Expect(ServerInit) }

// Shown is the name of the desktop that a viewer sees, which has heard of no failure.
func (w *Conn) Shown() string {
	shown, refusal := w.ShownOrRefused()
	if refusal != "" {
		w.Fail("refused: %s", refusal)
	}
	return shown
}

// ShownOrRefused is Shown, or why there is no desktop.
func (w *Conn) ShownOrRefused() (shown, refusal string) {
	if w.Uint32() != 0 {
		return "", w.Text()
	}
	w.Send(0).ReadN(20)
	return string(w.ReadN(int(w.Uint32() & 0xff))), ""
}

// EndsWithin reports whether the other side ends the connection in time.
func EndsWithin(w *Conn, limit time.Duration) bool {
	_ = w.SetReadDeadline(time.Now().Add(limit))
	_, err := io.Copy(io.Discard, w.Conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// Refusal hears that it is not let in, and why; then the end.
func (w *Conn) Refusal() string {
	w.Expect(uint32(1))
	reason := w.Text()
	w.End()
	return reason
}

// Echo sends a pointer event, which the test's workstation sends back.
func (w *Conn) Echo(x, y int) *Conn {
	event := []byte{5, 0, byte(x >> 8), byte(x), byte(y >> 8), byte(y)}
	return w.Send(event).Expect(event)
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
