package harness

import (
	"cmp"
	"net"
	"sync"
	"testing"
)

// ServerInit is what the test's workstations show: 1280x720, 24 bit in 32.
const ServerInit = "\x05\x00\x02\xd0" + "\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00" + "\x00\x00\x00\x04desk"

// VNCServer is a workstation's VNC server, played by a test. Pointer events it sends
// back; what else viewers send it keeps.
type VNCServer struct {
	t        *testing.T
	listener net.Listener
	greet    func(w *Conn) // the handshake up to before ClientInit; w.err ends the connection
	over     sync.WaitGroup

	mu       sync.Mutex // guards the following
	came     int
	messages [][]byte
	open     map[net.Conn]struct{}
}

// NewVNCServer listens until the test's end.
func NewVNCServer(t *testing.T, greet func(*Conn)) *VNCServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &VNCServer{t: t, listener: listener, greet: greet, open: make(map[net.Conn]struct{})}
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

// Address is where it listens.
func (d *VNCServer) Address() string { return d.listener.Addr().String() }

// As declares the workstation in a vnc block.
func (d *VNCServer) As(name, options string) string {
	return "workstation " + name + " " + d.Address() + " {\n" + options + "\n}\n"
}

func (d *VNCServer) accept() {
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
			d.serve(&Conn{Conn: conn})
			d.mu.Lock()
			delete(d.open, conn)
			d.mu.Unlock()
			_ = conn.Close()
		})
	}
}

// serve is one connection. The gateway asks to share, always.
func (d *VNCServer) serve(w *Conn) {
	if d.greet(w); w.Err != nil {
		return
	}
	w.Expect(1).Send(cmp.Or(w.shows, ServerInit))
	for {
		m := w.message()
		if w.Err != nil {
			return
		}
		if m[0] == 5 {
			w.Send(m)
			continue
		}
		d.mu.Lock()
		d.messages = append(d.messages, m)
		d.mu.Unlock()
	}
}

// message reads one message of a viewer (RFC 6143, 7.5).
func (w *Conn) message() []byte {
	m := w.ReadN(1)
	more := func(n int) { m = append(m, w.ReadN(n)...) }
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
		w.Fail("message %v", m)
	}
	return m
}

// Connections is how many there were.
func (d *VNCServer) Connections() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.came
}

// Messages are the kept messages, once there are n.
func (d *VNCServer) Messages(n int) [][]byte {
	d.t.Helper()
	var got [][]byte
	if !Eventually(func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		got = d.messages
		return len(got) >= n
	}) {
		d.t.Fatalf("the workstation got %d messages, want %d: %v", len(got), n, got)
	}
	return got
}

// Forget drops the messages that are kept.
func (d *VNCServer) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.messages = nil
}

// Idle reports whether no connection is open.
func (d *VNCServer) Idle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open) == 0
}
