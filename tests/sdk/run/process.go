package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end when told to. The gateway's
// grace period is shorter.
const stopTimeout = 10 * time.Second

// process is one that this command started and ends.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer // held open: the fake provider ends with it
	exited chan struct{}
	log    string
}

// start runs cmd with its stderr, and its stdout unless taken, in the file log.
func start(cmd *exec.Cmd, log string) (*process, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd.Stderr = f
	if cmd.Stdout == nil {
		cmd.Stdout = f
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, exited: make(chan struct{}), log: log}
	go func() {
		_ = cmd.Wait() // how it ended shows in its log
		close(p.exited)
	}()
	return p, nil
}

func (p *process) stop() {
	p.stdin.Close()
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
}

// showLog prints the end of the log.
func (p *process) showLog(w io.Writer) {
	const lines = 60
	text, err := os.ReadFile(p.log)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	all = all[max(0, len(all)-lines):]
	fmt.Fprintf(w, "the last lines of %s:\n%s\n", p.cmd.Path, strings.Join(all, "\n"))
}

var errNotListening = errors.New("no line that begins with listening on")

type fakeProvider struct {
	*process
	origin string
}

// startFake waits for the line in which the provider says where it listens.
func startFake(ctx context.Context, path, log string) (*fakeProvider, error) {
	if path == "" {
		return nil, fmt.Errorf("no fake provider: -fake is empty")
	}
	cmd := exec.CommandContext(ctx, path, "-listen", "127.0.0.1:0")
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.Stdout = w
	p, err := start(cmd, log)
	w.Close()
	if err != nil {
		return nil, fmt.Errorf("starting the fake provider: %w", err)
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	origin, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		p.showLog(os.Stderr)
		p.stop()
		return nil, fmt.Errorf("the fake provider said %q: %w", line, cmp.Or(err, errNotListening))
	}
	return &fakeProvider{p, origin}, nil
}
