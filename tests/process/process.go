//go:build unix

// Package process runs the programs of a suite, and has what all suites share: flags, results, and
// the start of the gateway. Each program has its own process group, and its output in a file. The
// whole group is ended.
package process

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a program may take to end when asked to. The gateway's grace period in
// the suites is shorter.
const stopTimeout = 10 * time.Second

// Process is a program that runs, or has ended.
type Process struct {
	cmd   *exec.Cmd
	stdin io.Closer // held open: some programs end with it
	log   string

	// Exited is closed when the program has ended.
	Exited chan struct{}
}

// Start runs cmd with its stderr, and its stdout unless taken, in the file log.
func Start(cmd *exec.Cmd, log string) (*Process, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd.Stderr = f
	if cmd.Stdout == nil {
		cmd.Stdout = f
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, stdin: stdin, log: log, Exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // its log shows how it ended
		close(p.Exited)
	}()
	return p, nil
}

// Stop asks the whole group to end. It kills what has not ended in 10 seconds, including children
// that outlive the leader.
func (p *Process) Stop() {
	group := -p.cmd.Process.Pid
	p.stdin.Close()
	_ = syscall.Kill(group, syscall.SIGTERM) // fails if all have ended
	select {
	case <-p.Exited:
	case <-time.After(stopTimeout):
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-p.Exited
}

// CloseInput ends the program's standard input.
func (p *Process) CloseInput() { p.stdin.Close() }

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Path is the absolute path of the program, so that another folder can start it too.
func (p *Process) Path() string {
	path, err := filepath.Abs(p.cmd.Path)
	if err != nil {
		return p.cmd.Path
	}
	return path
}

// State is how the program ended; it is valid after Exited.
func (p *Process) State() *os.ProcessState { return p.cmd.ProcessState }

// Running reports whether the program has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.Exited:
		return false
	default:
		return true
	}
}

// Log is what the program has written so far.
func (p *Process) Log() string {
	text, _ := os.ReadFile(p.log) // an unreadable file counts as empty
	return string(text)
}

// ShowLog prints the end of the log.
func (p *Process) ShowLog(w io.Writer) {
	const lines = 60
	all := strings.Split(strings.TrimSpace(p.Log()), "\n")
	all = all[max(0, len(all)-lines):]
	fmt.Fprintf(w, "the last lines of %s:\n%s\n", p.cmd.Path, strings.Join(all, "\n"))
}

// FreePorts returns ports of the loopback that nobody listens on at the moment: Caddy cannot choose
// one itself. They are below what the system gives to listeners and connections without a port, which
// another process may get before Caddy listens.
func FreePorts(n int) ([]int, error) {
	var ports []int
	for range 1000 {
		port := 15000 + rand.IntN(15000)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		defer l.Close() // each stays open until all are known
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("there are no free ports")
}
