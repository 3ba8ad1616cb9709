//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// startTimeout is how long a server may take until it answers.
	startTimeout = 20 * time.Second
	// stopTimeout is how long a server may take to end before it is killed.
	stopTimeout = 5 * time.Second
	// shownOutput is how much of a dead server's output goes into the error.
	shownOutput = 2 << 10
)

// process is a server that this bench has started and has to end.
type process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer
	output string        // file with its standard error
	done   chan struct{} // closed when it has ended
}

// startProcess starts a program with nothing in its environment but env. Its
// standard error goes to a file in dir. The returned reader is its standard output.
func startProcess(name, dir string, env []string, program string, args ...string) (*process, io.Reader, error) {
	p := &process{name: name, output: filepath.Join(dir, "stderr"), done: make(chan struct{})}
	stderr, err := os.Create(p.output)
	if err != nil {
		return nil, nil, err
	}
	defer stderr.Close()
	stdoutRead, stdoutWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer stdoutWrite.Close()

	p.cmd = exec.Command(program, args...)
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = env, dir, stdoutWrite, stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		stdoutRead.Close()
		return nil, nil, err
	}
	if err := p.cmd.Start(); err != nil {
		stdoutRead.Close()
		return nil, nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.cmd.Wait()
		stdoutRead.Close()
		close(p.done)
	}()
	return p, stdoutRead, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// alive returns an error that shows what the process last said if it has ended.
func (p *process) alive() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	said, _ := os.ReadFile(p.output)
	said = said[max(0, len(said)-shownOutput):]
	return fmt.Errorf("%s has ended (%s): %s", p.name, p.cmd.ProcessState, strings.TrimSpace(string(said)))
}

// stop asks the process to end, by its id, and kills it when it does not.
func (p *process) stop() {
	p.stdin.Close()
	p.cmd.Process.Signal(syscall.SIGTERM)
	timeout := time.NewTimer(stopTimeout)
	defer timeout.Stop()
	select {
	case <-p.done:
	case <-timeout.C:
		p.cmd.Process.Kill()
		<-p.done
	}
}

// await calls ready until it succeeds, the process ends or startTimeout is over.
func (p *process) await(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if dead := p.alive(); dead != nil {
			return dead
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w, last %v", p.name, ctx.Err(), err)
		case <-poll.C:
		}
	}
}

// startUpstream starts this binary again as the upstream and returns its address.
func startUpstream(ctx context.Context, dir string, env []string) (*process, string, error) {
	return startSelf(ctx, "the upstream", dir, env, serveCommand)
}

// startSelf starts this binary again with these arguments and returns the one line
// that it writes when it serves.
func startSelf(ctx context.Context, name, dir string, env []string, args ...string) (*process, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	p, stdout, err := startProcess(name, dir, env, self, args...)
	if err != nil {
		return nil, "", err
	}
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case addr := <-line:
		if addr != "" {
			return p, addr, nil
		}
		<-p.done
		err = p.alive()
	case <-timeout.C:
		err = errors.New(name + " names no address")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.stop()
	return nil, "", err
}
