//go:build unix

// Package enginetest starts the engines of a cluster for tests: Redis or Valkey, Sentinel and
// PostgreSQL, as Debian packages them. They listen on the loopback, keep their data in a temporary
// folder and end with the test.
//
//	redis := enginetest.Redis(t)          // a server
//	db := enginetest.Postgres(t)          // an empty database of a server that the package's tests share
//
// A test is skipped if the program is not installed. make test installs them, and takes a skipped
// test for a failure.
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// T is what the start of an engine needs of a test. A program that is no test has one of its own.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Skipf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// startTimeout is how long an engine may take until it answers.
const startTimeout = 20 * time.Second

// Engine is a server that a test has started.
type Engine struct {
	Addr string // "127.0.0.1:6379"
	Dir  string // its data
	Log  string // a file

	command func() *exec.Cmd
	process *exec.Cmd
	exited  chan struct{}
}

// Port is that of Addr.
func (e *Engine) Port() int {
	_, port, _ := net.SplitHostPort(e.Addr)
	n, _ := strconv.Atoi(port)
	return n
}

// Program returns the path of the first of the programs that is installed; without one the test is
// skipped.
func Program(t T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", names[0])
	return ""
}

// start starts the engine, again after Kill or Stop, and returns when ready does not fail.
func (e *Engine) start(ready func() error) error {
	log, err := os.OpenFile(e.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := e.command()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	e.process, e.exited = cmd, exited
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	for deadline := time.Now().Add(startTimeout); ; {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			text, _ := os.ReadFile(e.Log)
			return fmt.Errorf("it has ended: %s", text)
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// Signal sends a signal to the engine: SIGSTOP and SIGCONT pause it.
func (e *Engine) Signal(s syscall.Signal) error { return e.process.Process.Signal(s) }

// Kill ends the engine as a power failure would.
func (e *Engine) Kill() { e.end(syscall.SIGKILL) }

// Stop asks the engine to end and waits for it.
func (e *Engine) Stop() { e.end(syscall.SIGTERM) }

func (e *Engine) end(s syscall.Signal) {
	if e.process == nil {
		return
	}
	_ = e.process.Process.Signal(syscall.SIGCONT)
	_ = e.process.Process.Signal(s)
	select {
	case <-e.exited:
	case <-time.After(startTimeout):
		_ = syscall.Kill(-e.process.Process.Pid, syscall.SIGKILL)
		<-e.exited
	}
	e.process = nil
}

// tempDir returns a folder that other users can enter, with a short path: PostgreSQL puts a socket
// there.
func tempDir(t T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "gh-engine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// answers sends text to addr and expects an answer that begins with want.
func answers(addr, text, want string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(c, text); err != nil {
		return err
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil {
		return err
	}
	if string(got) != want {
		return errors.New("it answers " + string(got))
	}
	return nil
}

// Redis starts a Redis server, or one of Valkey if ENGINE is "valkey", with settings
// ("appendonly", "yes") besides its own: no persistence, no eviction.
func Redis(t T, settings ...string) *Engine {
	t.Helper()
	return RedisBy(t, redisProgram(t), settings...)
}

func redisProgram(t T) string {
	t.Helper()
	if os.Getenv("ENGINE") == "valkey" {
		return Program(t, "valkey-server")
	}
	return Program(t, "redis-server", "valkey-server")
}

// RedisBy is Redis with a program of one's own.
func RedisBy(t T, program string, settings ...string) *Engine {
	t.Helper()
	dir, port := tempDir(t), strconv.Itoa(freePort(t))
	args := []string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0"}
	for i := 0; i+1 < len(settings); i += 2 {
		args = append(args, "--"+settings[i], settings[i+1])
	}
	e := &Engine{
		Addr: "127.0.0.1:" + port, Dir: dir, Log: filepath.Join(dir, "log"),
		command: func() *exec.Cmd { return exec.Command(program, args...) },
	}
	e.MustStart(t)
	return e
}

// MustStart starts a Redis server that Kill or Stop has ended, with the data that it has kept.
func (e *Engine) MustStart(t T) {
	t.Helper()
	t.Cleanup(e.Kill)
	// A server with a password answers that it wants one.
	err := e.start(func() error {
		if answers(e.Addr, "PING\r\n", "-NOAUTH") == nil {
			return nil
		}
		return answers(e.Addr, "PING\r\n", "+PONG")
	})
	if err != nil {
		t.Fatalf("%s: %v", e.Log, err)
	}
}
