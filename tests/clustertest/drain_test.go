//go:build unix && !race

package clustertest_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// A program is replaced while desktops are open: none of them ends, and viewers who come meanwhile get
// theirs.
func TestAnUpgradeCutsNoDesktop(t *testing.T) { upgrade(t, 8, 40) }

func TestLongAnUpgradeCutsNoneOfAThousandDesktops(t *testing.T) { upgrade(t, 1000, 1000) }

const (
	// leastSample is so many round trips of a pointer.
	leastSample = 400
	// betweenUpdates is longer than what the test card waits before its next picture.
	betweenUpdates = 40 * time.Millisecond
)

func upgrade(t *testing.T, sessions, connects int) {
	p := newProof(t, clustertest.Start(t, clustertest.Config{
		Caddy: caddy(t), Gateways: 1, Engines: clustertest.StartEngines(t), Options: keys, Environment: environment,
		VNC: "on_conflict share\nmax_sessions 5000\nfps off\ndrain 10m", Alone: true,
	}))
	old := p.Gateways[0]
	hosts := make([]string, 0, 3)
	for _, desk := range []string{"demo", "second", "third"} {
		host, err := p.at(0, "desk").Issue(t.Context(), desk)
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, host)
	}
	open := make([]*clustertest.Viewer, sessions)
	each(t, sessions, 8, func(i int) (err error) {
		open[i], err = p.View(t.Context(), old.VNC, hosts[i%len(hosts)])
		return err
	})
	cookie := p.signIn(0, "desk")
	token := p.order(0, cookie)
	page := p.connect(0, cookie, token)
	alone := p99(p, open)

	next := old.Successor("gw2")
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	p.soon("the next program", func() error {
		_, err := next.Command("gatehouse", "health")
		return err
	})
	ended := old.Terminate()
	begun := time.Now()
	var slowest time.Duration
	var mu sync.Mutex
	each(t, connects, 4, func(i int) error {
		came := time.Now()
		v, err := p.View(t.Context(), old.VNC, hosts[i%len(hosts)])
		if err != nil {
			return err
		}
		v.Close()
		mu.Lock()
		defer mu.Unlock()
		slowest = max(slowest, time.Since(came))
		return nil
	})
	t.Logf("%d connects within %v, the slowest %v", connects, time.Since(begun), slowest)
	wantMoved(t, page)
	_ = p.connect(0, cookie, token).Close() // as the page does by itself
	p.soon("the old process", func() error {
		text, err := old.Command("gatehouse", "drain")
		if err != nil || !strings.Contains(text, fmt.Sprintf("waits for %d open desktops", sessions)) {
			return fmt.Errorf("%s %w", text, err)
		}
		return nil
	})
	drained := p99(p, open)
	t.Logf("p99 of a pointer's round trip: %v, and %v while the process drains", alone, drained)
	if drained > 2*alone+10*time.Millisecond { // a busy machine
		t.Error("the pointer is slower while the process drains")
	}
	for i, v := range open {
		if _, err := v.Ended(0); err == nil {
			t.Fatalf("session %d of %d has ended", i+1, len(open))
		}
		v.Close()
	}
	last := time.Now()
	select {
	case <-ended:
		t.Logf("the old process ended %v after its last desktop", time.Since(last))
	case <-time.After(10 * time.Second):
		t.Error("the old process goes on without a desktop")
	}
	if text := old.Log(); strings.Contains(text, "did not end in time") {
		t.Errorf("records are lost: %s", complaints(text))
	}
}

// each does something n times, by so many workers. An error ends the test.
func each(t *testing.T, n, workers int, do func(i int) error) {
	t.Helper()
	todo, failed := make(chan int), make(chan error, n)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range todo {
				if err := do(i); err != nil {
					failed <- err
				}
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	all.Wait()
	if len(failed) > 0 {
		migrates, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_migrate_req")
		t.Fatalf("%d of %d failed, the first with %v (net.ipv4.tcp_migrate_req is %s)", len(failed), n, <-failed, migrates)
	}
}

// wantMoved waits for the Close with which a page goes to another gateway.
func wantMoved(t *testing.T, page net.Conn) {
	t.Helper()
	if err := page.SetReadDeadline(time.Now().Add(waitLimit)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, page); err != nil { // none at a Close with 1001
		t.Fatalf("the page's desktop ended with %v", err)
	}
}

// p99 is that of the round trips of a pointer.
func p99(p *proof, open []*clustertest.Viewer) time.Duration {
	p.t.Helper()
	var took []time.Duration
	for round := range 1 + max(1, leastSample/len(open)) {
		for _, v := range open {
			once, err := v.RoundTrip()
			if err != nil {
				p.t.Fatal(err)
			}
			if round > 0 { // all is warm
				took = append(took, once)
			}
		}
		p.wait(betweenUpdates)
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}
