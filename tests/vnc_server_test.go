package tests

import (
	"bytes"
	"crypto/tls"
	"net"
	"sync"
	"testing"
)

// serverInit is what the test's workstations show: 1280x720, 24 bit in 32.
const serverInit = "\x05\x00\x02\xd0" + "\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00" + "\x00\x00\x00\x04desk"

// vncServer is a workstation's VNC server, played by a test. Pointer events it sends
// back; what else viewers send it keeps.
type vncServer struct {
	t        *testing.T
	listener net.Listener
	greet    func(w *wire) // the handshake up to before ClientInit; w.err ends the connection
	over     sync.WaitGroup

	mu       sync.Mutex // guards the following
	came     int
	messages [][]byte
	open     map[net.Conn]struct{}
}

// newVNCServer listens until the test's end.
func newVNCServer(t *testing.T, greet func(*wire)) *vncServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &vncServer{t: t, listener: listener, greet: greet, open: make(map[net.Conn]struct{})}
	d.over.Go(d.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		d.mu.Lock()
		for conn := range d.open {
			_ = conn.Close()
		}
		d.mu.Unlock()
		d.over.Wait()
	})
	return d
}

func (d *vncServer) address() string { return d.listener.Addr().String() }

func (d *vncServer) accept() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		d.came++
		d.open[conn] = struct{}{}
		d.mu.Unlock()
		d.over.Go(func() {
			d.serve(&wire{Conn: conn})
			d.mu.Lock()
			delete(d.open, conn)
			d.mu.Unlock()
			_ = conn.Close()
		})
	}
}

// serve is one connection. The gateway asks to share, always.
func (d *vncServer) serve(w *wire) {
	if d.greet(w); w.err != nil {
		return
	}
	w.hear(1).say(serverInit)
	for {
		m := w.message()
		if w.err != nil {
			return
		}
		if m[0] == 5 {
			w.say(m)
			continue
		}
		d.mu.Lock()
		d.messages = append(d.messages, m)
		d.mu.Unlock()
	}
}

// message reads one message of a viewer (RFC 6143, 7.5).
func (w *wire) message() []byte {
	m := w.take(1)
	more := func(n int) { m = append(m, w.take(n)...) }
	switch m[0] {
	case 0:
		more(19)
	case 2:
		more(3)
		more(4 * (int(m[2])<<8 | int(m[3])))
	case 3, 150:
		more(9)
	case 4:
		more(7)
	case 5:
		more(5)
	case 6:
		more(7)
		more(int(m[6])<<8 | int(m[7]))
	case 251:
		more(7)
		more(16 * int(m[6]))
	default:
		w.fail("message %v", m)
	}
	return m
}

// connections is how many there were.
func (d *vncServer) connections() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.came
}

// got are the kept messages, once there are n.
func (d *vncServer) got(n int) [][]byte {
	d.t.Helper()
	var got [][]byte
	if !eventually(func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		got = d.messages
		return len(got) >= n
	}) {
		d.t.Fatalf("the workstation got %d messages, want %d: %v", len(got), n, got)
	}
	return got
}

// The greetings of VNC servers, RFB 3.8.

func offering(w *wire, types ...byte) *wire {
	return w.say("RFB 003.008\n").hear("RFB 003.008\n").say(len(types), types)
}

func asNone(w *wire) { offering(w, 1).hear(1).say(uint32(0)) }

func asVNCAuth(w *wire) {
	offering(w, 1, 2).hear(2)
	w.checkResponse()
}

// checkResponse sends a challenge and judges the response to it.
func (w *wire) checkResponse() {
	challenge := []byte("0123456789abcdef")
	response := w.say(challenge).take(16)
	if w.err == nil && !bytes.Equal(response, vncResponse(challenge, deskPassword)) {
		w.refuse("Authentication failed")
		return
	}
	w.say(uint32(0))
}

// refuse is a SecurityResult, and the end.
func (w *wire) refuse(reason string) {
	w.say(uint32(1), uint32(len(reason)), reason)
	w.fail("refused")
}

// asVeNCrypt offers one sub-type of VeNCrypt.
func asVeNCrypt(sub uint32, certificate tls.Certificate) func(*wire) {
	return func(w *wire) {
		offering(w, 2, 19).hear(19).say(0, 2).hear(0, 2).say(0, 1, sub).hear(sub).say(1)
		if w.err != nil {
			return
		}
		conn := tls.Server(w.Conn, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
		if err := conn.Handshake(); err != nil {
			w.fail("TLS: %w", err)
			return
		}
		w.Conn = conn
		switch sub {
		case 261:
			w.checkResponse()
		case 262:
			users, passwords := w.number(), w.number()
			if string(w.take(int(users&0xff))) != "ann" || string(w.take(int(passwords&0xff))) != deskPassword {
				w.refuse("Authentication failure")
				return
			}
			w.say(uint32(0))
		default:
			w.say(uint32(0))
		}
	}
}

// as declares the workstation in a vnc block.
func (d *vncServer) as(name, options string) string {
	return "workstation " + name + " " + d.address() + " {\n" + options + "\n}\n"
}
