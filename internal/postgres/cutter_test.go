package postgres_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// cutter is a proxy in front of the server that cuts a connection once its client has sent a text,
// which the server gets.
type cutter struct {
	net.Listener
	to   string
	cuts atomic.Int32 // that are left
	text string
}

func newCutter(t *testing.T, to, text string) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, to: to, text: text}
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { l.Close() })
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { c.pass(client) })
		}
	})
	return c
}

func (c *cutter) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer server.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		_, _ = io.Copy(client, server)
		client.Close()
	})
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			server.Close()
			return
		}
		if cut := strings.Contains(string(buf[:n]), c.text) && c.cuts.Add(-1) >= 0; cut {
			client.Close()
			_, _ = server.Write(buf[:n])
			<-time.After(50 * time.Millisecond) // the server does what it was told
			server.Close()
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}
