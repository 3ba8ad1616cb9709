package browser

import (
	"net"
	"sync"
	"testing"
	"time"
)

// relay is a proxy between the browser and a gateway, as a network has them.
type relay struct {
	to       string
	listener net.Listener
	// idle closes a connection that was silent for so long; 0: none is.
	idle time.Duration
	// rate is how many bytes a second reach the browser on one connection; 0: all.
	rate int

	mu    sync.Mutex // guards the following
	open  map[net.Conn]bool
	count int // of connections so far
}

// newRelay starts one that leads to the site. It returns the site as it is seen through it.
func newRelay(t *testing.T, s *site, idle time.Duration, rate int) (*relay, *site) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{to: s.host, listener: listener, idle: idle, rate: rate, open: map[net.Conn]bool{}}
	go r.serve()
	t.Cleanup(func() {
		listener.Close()
		r.cut()
	})
	through := *s
	through.host = listener.Addr().String()
	return r, &through
}

func (r *relay) serve() {
	for {
		browser, err := r.listener.Accept()
		if err != nil {
			return
		}
		gateway, err := net.Dial("tcp", r.to)
		if err != nil {
			browser.Close()
			continue
		}
		r.mu.Lock()
		r.open[browser], r.open[gateway] = true, true
		r.count++
		r.mu.Unlock()
		go r.copy(gateway, browser, 0)
		go r.copy(browser, gateway, r.rate)
	}
}

// copy ends both connections with the first of the two directions that ends.
func (r *relay) copy(to, from net.Conn, rate int) {
	defer r.forget(to, from)
	const atOnce = 8 << 10
	buffer := make([]byte, atOnce)
	for {
		if r.idle > 0 {
			_ = from.SetReadDeadline(time.Now().Add(r.idle))
		}
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
		if rate > 0 {
			<-time.After(time.Duration(n) * time.Second / time.Duration(rate))
		}
	}
}

func (r *relay) forget(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		c.Close()
		delete(r.open, c)
	}
}

// cut closes all connections without a word, as a network that is lost does in the end.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		c.Close()
	}
}

// connections is how many there have been.
func (r *relay) connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}
