package harness

import (
	"bytes"
	"crypto/tls"
)

// The greetings of VNC servers, RFB 3.8.

// Offer begins the handshake with these security types.
func Offer(w *Conn, types ...byte) *Conn {
	return w.Send("RFB 003.008\n").Expect("RFB 003.008\n").Send(len(types), types)
}

// NoSecurity lets every viewer in.
func NoSecurity(w *Conn) { Offer(w, 1).Expect(1).Send(uint32(0)) }

// VNCAuth asks for DeskPassword.
func VNCAuth(w *Conn) {
	Offer(w, 1, 2).Expect(2)
	w.CheckResponse()
}

// CheckResponse sends a challenge and judges the response to it.
func (w *Conn) CheckResponse() { checkPassword(w, DeskPassword) }

func checkPassword(w *Conn, password string) {
	challenge := []byte("0123456789abcdef")
	response := w.Send(challenge).ReadN(16)
	if w.Err == nil && !bytes.Equal(response, vncResponse(challenge, password)) {
		w.Refuse("Authentication failed")
		return
	}
	w.Send(uint32(0))
}

// Refuse is a SecurityResult, and the end.
func (w *Conn) Refuse(reason string) {
	w.Send(uint32(1), uint32(len(reason)), reason)
	w.Fail("refused")
}

// VeNCrypt offers one sub-type of VeNCrypt.
func VeNCrypt(sub uint32, certificate tls.Certificate) func(*Conn) {
	return func(w *Conn) {
		Offer(w, 2, 19).Expect(19).Send(0, 2).Expect(0, 2).Send(0, 1, sub).Expect(sub).Send(1)
		if w.Err != nil {
			return
		}
		conn := tls.Server(w.Conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
		if err := conn.Handshake(); err != nil {
			w.Fail("TLS: %w", err)
			return
		}
		w.Conn = conn
		switch sub {
		case 261:
			w.CheckResponse()
		case 262:
			users, passwords := w.Uint32(), w.Uint32()
			if string(w.ReadN(int(users&0xff))) != "ann" || string(w.ReadN(int(passwords&0xff))) != DeskPassword {
				w.Refuse("Authentication failure")
				return
			}
			w.Send(uint32(0))
		default:
			w.Send(uint32(0))
		}
	}
}
