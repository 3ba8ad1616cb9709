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
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	// startTimeout is how long a server may take until it answers.
	startTimeout = 20 * time.Second
	// shownOutput is how much of a dead server's output goes into the error.
	shownOutput = 2 << 10
)

// program is a server that this bench has started and must end.
type program struct {
	*process.Process
	name string
}

// startProgram starts a program with only env in its environment. Its standard error goes to a file
// in dir. The returned reader is its standard output.
func startProgram(name, dir string, env []string, path string, args ...string) (*program, io.Reader, error) {
	stdoutRead, stdoutWrite, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer stdoutWrite.Close()
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Dir, cmd.Stdout = env, dir, stdoutWrite
	p, err := process.Start(cmd, filepath.Join(dir, "stderr"))
	if err != nil {
		stdoutRead.Close()
		return nil, nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		<-p.Exited
		stdoutRead.Close()
	}()
	return &program{p, name}, stdoutRead, nil
}

// alive returns an error with the program's last output if it has ended.
func (p *program) alive() error {
	if p.Running() {
		return nil
	}
	said := p.Log()
	said = said[max(0, len(said)-shownOutput):]
	return fmt.Errorf("%s has ended (%s): %s", p.name, p.State(), strings.TrimSpace(said))
}

// await calls ready until it succeeds, the process ends or startTimeout is over.
func (p *program) await(ctx context.Context, ready func() error) error {
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

// startUpstream starts this binary again as the upstream and returns its addresses, the second with
// TLS.
func startUpstream(ctx context.Context, dir string, env []string, cert certificate) (p *program, addr, secure string, err error) {
	p, line, err := startSelf(ctx, "the upstream", dir, env, serveCommand, cert.cert, cert.key)
	addr, secure, _ = strings.Cut(line, " ")
	return p, addr, secure, err
}

// startSelf starts this binary again with these arguments and returns the one line that it writes
// when it serves.
func startSelf(ctx context.Context, name, dir string, env []string, args ...string) (*program, string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	p, stdout, err := startProgram(name, dir, env, self, args...)
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
		<-p.Exited
		err = p.alive()
	case <-timeout.C:
		err = errors.New(name + " names no address")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.Stop()
	return nil, "", err
}
