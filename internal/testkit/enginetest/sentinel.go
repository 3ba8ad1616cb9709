//go:build unix

package enginetest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// MasterName is the name of the master that Sentinels watch.
const MasterName = "gatehouse"

// Replica starts a replica of a server, whose address may be that of a Proxy, and waits until it has
// the data.
func Replica(t T, master string, settings ...string) *Engine {
	t.Helper()
	host, port, _ := net.SplitHostPort(master)
	e := Redis(t, append([]string{"replicaof", host + " " + port}, settings...)...)
	e.Wait(t, "INFO replication", "master_link_status:up")
	return e
}

// Sentinels starts three Sentinels that watch a master: they take it for dead after a second. A
// replica that follows the master through a Proxy is told its real address after some seconds.
func Sentinels(t T, master *Engine) []*Engine {
	t.Helper()
	const sentinels, quorum = 3, 2
	program := redisProgram(t)
	var all []*Engine
	for range sentinels {
		dir, port := tempDir(t), strconv.Itoa(freePort(t))
		file := filepath.Join(dir, "sentinel.conf")
		text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %d %d\n"+
			"sentinel down-after-milliseconds %[3]s 1000\nsentinel failover-timeout %[3]s 4000\n", port, dir, MasterName, master.Port(), quorum)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e := &Engine{
			Addr: "127.0.0.1:" + port, Dir: dir, Log: filepath.Join(dir, "log"),
			command: func() *exec.Cmd { return exec.Command(program, file, "--sentinel") },
		}
		e.MustStart(t)
		all = append(all, e)
	}
	for _, e := range all {
		e.Wait(t, "SENTINEL CKQUORUM "+MasterName, "OK 3 usable")
		e.Wait(t, "SENTINEL REPLICAS "+MasterName, "slave-priority")
	}
	return all
}

// Masters starts a cluster of three masters without replicas.
func Masters(t T) []*Engine {
	t.Helper()
	const masters, slots = 3, 16384
	var all []*Engine
	for i := range masters {
		bus := strconv.Itoa(freePort(t))
		e := Redis(t, "cluster-enabled", "yes", "cluster-port", bus, "cluster-node-timeout", "2000")
		e.Wait(t, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*slots/masters, (i+1)*slots/masters-1), "OK")
		if i > 0 {
			all[0].Wait(t, fmt.Sprintf("CLUSTER MEET 127.0.0.1 %d %s", e.Port(), bus), "OK")
		}
		all = append(all, e)
	}
	for _, e := range all {
		e.Wait(t, "CLUSTER INFO", "cluster_state:ok")
	}
	return all
}

// Wait sends a command until the answer has want.
func (e *Engine) Wait(t T, command, want string) {
	t.Helper()
	for deadline := time.Now().Add(startTimeout); ; {
		answer, err := e.Ask(command)
		if err == nil && strings.Contains(answer, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s: %q, %v", e.Addr, command, answer, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// Ask sends a command and returns the answer as it comes.
func (e *Engine) Ask(command string) (string, error) {
	c, err := net.DialTimeout("tcp", e.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return "", err
	}
	// The answer to PING ends that to the command.
	if _, err := io.WriteString(c, command+"\r\nPING\r\n"); err != nil {
		return "", err
	}
	const end = "+PONG\r\n"
	var answer []byte
	for b := make([]byte, 4096); !bytes.HasSuffix(answer, []byte(end)); {
		n, err := c.Read(b)
		if answer = append(answer, b[:n]...); err != nil {
			return string(answer), err
		}
	}
	return string(answer[:len(answer)-len(end)]), nil
}
