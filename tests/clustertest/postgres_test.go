//go:build unix && !race

package clustertest_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// Calls do not wait for PostgreSQL. Their rows arrive when it is back, each once.
func TestRowsOfAnOutageArriveLater(t *testing.T) { outage(start(t, 2), 3*time.Second) }

func TestLongAnOutageOfAMinute(t *testing.T) { outage(start(t, 2), time.Minute) }

func outage(p *proof, during time.Duration) {
	t := p.t
	made := p.makeKey(0)
	p.within(2*time.Second, "the key", func() error {
		return p.status(200, clustertest.Client{Origin: p.Gateways[1].Origin, Key: made.secret}, "fake/echo")
	})
	hard, plain := p.load(4, p.paced("hard")), p.load(4, p.paced("plain"))
	p.wait(during / 3)
	p.Engines.Postgres.Kill()
	p.wait(during)
	for i := range p.Gateways {
		if err := p.status(200, clustertest.Client{Origin: p.Gateways[i].Origin, Key: made.secret}, "fake/echo"); err != nil {
			t.Errorf("a key made at run time, without PostgreSQL: %v", err)
		}
		a := p.do(p.at(i, "manager"), "POST", "/api/v1/keys", `{"name":"late"}`)
		if a.Status != 503 {
			t.Errorf("making a key without PostgreSQL: %s", a)
		}
		if err := p.Gateways[i].Ready(); err != nil {
			t.Errorf("%s is not ready: %v", p.Gateways[i].Name, err)
		}
	}
	if err := p.Engines.Postgres.Restart(); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	p.wait(during / 3)
	for key, l := range map[string]*load{"hard": hard, "plain": plain} {
		answers := l.stop()
		if !answers.only("200") || answers.slowest > time.Second {
			t.Errorf("key %s: %v", key, answers)
		}
		p.rowsWithin(waitLimit+2*during, key, answers.of("200"))
		t.Logf("PostgreSQL was away for %v, key %s: %v; all rows are there %v after it came back",
			during, key, answers, time.Since(back).Round(10*time.Millisecond))
	}
	p.books("hard")
}

// rowsOf waits until each gateway shows exactly n answered calls of the key.
func (p *proof) rowsOf(key string, n int) {
	p.t.Helper()
	p.rowsWithin(waitLimit, key, n)
}

func (p *proof) rowsWithin(limit time.Duration, key string, n int) {
	p.t.Helper()
	p.within(limit, "the rows of "+key, func() error {
		for i := range p.Gateways {
			rows, err := p.at(i, "reader").Rows(p.t.Context(), "key="+key)
			if err != nil {
				return err
			}
			if got := answered(rows); got != n {
				return fmt.Errorf("%s has %d rows of %d answered calls", p.Gateways[i].Name, got, n)
			}
		}
		return nil
	})
}

// A connection that breaks between a COMMIT and its answer leaves its outcome unknown: the batch
// must be written neither twice nor never.
func TestACommitWithoutAnAnswerIsWrittenOnce(t *testing.T) {
	engines := clustertest.StartEngines(t)
	cutter := newCutter(t, engines.Postgres.Addr)
	engines.DSN = strings.Replace(engines.DSN, engines.Postgres.Addr, cutter.addr, 1)
	p := startOn(t, 2, engines)
	l := p.load(4, p.paced("hard"))
	const cuts = 12
	for n := range cuts {
		after := n%2 == 0 // the server has seen the COMMIT, or not
		cutter.arm(after)
		p.soon("a cut", func() error {
			if cutter.cuts() <= n {
				return fmt.Errorf("%d cuts", cutter.cuts())
			}
			return nil
		})
	}
	answers := l.stop()
	if !answers.only("200") {
		t.Error(answers)
	}
	p.rowsOf("hard", answers.of("200"))
	rows := p.books("hard")
	t.Logf("%d connections were cut in COMMIT: %v, %d rows", cuts, answers, len(rows))
}

// cutter passes connections to PostgreSQL, and cuts one in COMMIT when it is armed.
type cutter struct {
	addr, server string

	mu    sync.Mutex // guards the following
	armed string     // "", "before" or "after" the server sees the COMMIT
	n     int
}

func newCutter(t *testing.T, server string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cutter{addr: l.Addr().String(), server: server}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.pass(client)
		}
	}()
	return c
}

func (c *cutter) arm(after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed = "before"
	if after {
		c.armed = "after"
	}
}

func (c *cutter) cuts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// take reports whether, and how, this message is to be cut.
func (c *cutter) take(message []byte) string {
	if !bytes.Contains(bytes.ToLower(message), []byte("commit\x00")) {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	how := c.armed
	if c.armed = ""; how != "" {
		c.n++
	}
	return how
}

func (c *cutter) pass(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	buffer := make([]byte, 1<<20)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		switch c.take(buffer[:n]) {
		case "before":
			return
		case "after":
			client.Close() // the answer has nowhere to go
			_, _ = server.Write(buffer[:n])
			_, _ = io.Copy(io.Discard, server)
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}
