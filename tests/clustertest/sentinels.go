//go:build unix

package clustertest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	// sentinels is how many Sentinels watch a master: two of them agree that it is down.
	sentinels = 3
	// downAfter is how long a master may be silent.
	downAfter = time.Second
	// masterName is what the Sentinels call the master.
	masterName = "prod"
	// replicaTimeout is how long a replica may take until it has all data.
	replicaTimeout = 20 * time.Second
)

// Watched are a master and a replica that three Sentinels watch. Each server is behind a front.
type Watched struct {
	*Engines
	Servers   []*enginetest.Engine // the first is the master at the start
	Fronts    []*Front             // of the servers
	Sentinels []string             // addresses

	programs []*process.Process // the Sentinels
}

// StartSentinels starts a master, a replica, three Sentinels and PostgreSQL.
func StartSentinels(t T, program string) *Watched {
	t.Helper()
	w := &Watched{}
	for range 2 {
		front := NewFront(t)
		host, port, _ := net.SplitHostPort(front.Addr)
		server := enginetest.RedisBy(t, program, "replica-announce-ip", host, "replica-announce-port", port, "repl-diskless-sync-delay", "0")
		front.Before(server.Addr)
		w.Servers, w.Fronts = append(w.Servers, server), append(w.Fronts, front)
	}
	host, port, _ := net.SplitHostPort(w.Fronts[0].Addr)
	if _, err := Redis(w.Servers[1].Addr, "REPLICAOF", host, port); err != nil {
		t.Fatal(err)
	}
	if err := process.Eventually(t.Context(), replicaTimeout, func() error { return replicates(w.Servers[1].Addr) }); err != nil {
		t.Fatal(err)
	}
	for range sentinels {
		addr, p := startSentinel(t, program, host, port)
		w.Sentinels, w.programs = append(w.Sentinels, addr), append(w.programs, p)
	}
	if err := process.Eventually(t.Context(), replicaTimeout, w.agreed); err != nil {
		t.Fatal(err)
	}
	w.Engines = NewEngines(t, w.Servers[0])
	w.Valkey = "sentinel " + masterName + " " + strings.Join(w.Sentinels, " ")
	return w
}

// Endure lets a master be silent for longer than downAfter. A busy machine that stands still for a
// second makes the Sentinels take a living master for dead; if the other server has just been started,
// they promote it while it is empty, and its emptiness is copied.
func (w *Watched) Endure(t T, silence time.Duration) {
	t.Helper()
	for _, s := range w.Sentinels {
		if _, err := Redis(s, "SENTINEL", "SET", masterName, "down-after-milliseconds", strconv.FormatInt(silence.Milliseconds(), 10)); err != nil {
			t.Fatal(err)
		}
	}
}

// ShowLogs writes the last lines of the Sentinels: why there was no failover, or another one.
func (w *Watched) ShowLogs(to io.Writer) {
	for _, p := range w.programs {
		p.ShowLog(to)
	}
}

func replicates(addr string) error {
	info, err := Redis(addr, "INFO", "replication")
	if err == nil && !strings.Contains(info, "master_link_status:up") {
		err = errors.New("the replica has no master")
	}
	return err
}

// agreed returns nil when each Sentinel knows the replica and the other Sentinels.
func (w *Watched) agreed() error {
	for _, s := range w.Sentinels {
		text, err := Redis(s, "SENTINEL", "MASTER", masterName)
		if err != nil {
			return err
		}
		for _, want := range []string{"num-slaves\n1\n", fmt.Sprintf("num-other-sentinels\n%d\n", sentinels-1)} {
			if !strings.Contains(text, want) {
				return fmt.Errorf("a Sentinel does not know all others")
			}
		}
	}
	return nil
}

// Master returns the index in Servers of the one that the Sentinels take for the master.
func (w *Watched) Master() (int, error) {
	text, err := Redis(w.Sentinels[0], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)
	if err != nil {
		return 0, err
	}
	host, port, _ := strings.Cut(text, "\n")
	for i, f := range w.Fronts {
		if f.Addr == net.JoinHostPort(host, port) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the master is %s:%s", host, port)
}

// Follows returns nil if a server is a replica of the other, with all data.
func (w *Watched) Follows(server int) error {
	text, err := Redis(w.Servers[server].Addr, "INFO", "replication")
	if err == nil && !(strings.Contains(text, "role:slave") && strings.Contains(text, "master_link_status:up")) {
		err = fmt.Errorf("it says %.100s", text)
	}
	return err
}

// startSentinel starts the program as a Sentinel, and returns its address too.
func startSentinel(t T, program, host, port string) (string, *process.Process) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gh-sentinel")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %[3]s %[4]s %[5]s 2\nsentinel down-after-milliseconds %[3]s %[6]d\nsentinel failover-timeout %[3]s 10000\n",
		ports[0], dir, masterName, host, port, downAfter.Milliseconds())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(exec.Command(program, config, "--sentinel"), filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
	if err := process.Eventually(t.Context(), replicaTimeout, func() error { _, err := Redis(addr, "PING"); return err }); err != nil {
		p.ShowLog(os.Stderr)
		t.Fatal(err)
	}
	return addr, p
}
