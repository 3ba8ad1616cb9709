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

// stepTimeout ends a command that hangs: the slowest takes seconds.
const stepTimeout = time.Minute

// shell is one bash for all commands of a page, so that variables, folders and jobs stay.
type shell struct {
	dir   string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	codes chan string // how each command ended; closed with the shell
	count int
}

// startShell starts it. dir is for the commands and their outputs, not the shell's folder.
func startShell(dir string, environment []string) (*shell, error) {
	ends, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &shell{dir: dir, cmd: exec.Command("bash", "--noprofile", "--norc"), codes: make(chan string)}
	s.cmd.Env, s.cmd.ExtraFiles = environment, []*os.File{end}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if s.stdin, err = s.cmd.StdinPipe(); err == nil {
		err = s.cmd.Start()
	}
	end.Close()
	if err != nil {
		ends.Close()
		return nil, err
	}
	go func() { // ends with the shell, the only one that has the other end
		defer ends.Close()
		defer close(s.codes)
		for lines := bufio.NewScanner(ends); lines.Scan(); {
			s.codes <- lines.Text()
		}
	}()
	return s, nil
}

// run runs a command and returns what it printed until it ended. What it has started in the background
// goes on. The error says that it failed, hangs, or has ended the shell.
func (s *shell) run(ctx context.Context, command string) (output string, err error) {
	s.count++
	file := filepath.Join(s.dir, fmt.Sprintf("%03d", s.count))
	if err := os.WriteFile(file, []byte(command+"\n"), 0o600); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(s.stdin, ". %s >%[1]s.out 2>&1 </dev/null 3>&-; echo $? >&3\n", file); err != nil {
		return "", errors.New("the shell has ended")
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	select {
	case code, ok := <-s.codes:
		if !ok {
			err = errors.New("the shell has ended")
		} else if code != "0" {
			err = fmt.Errorf("exit status %s", code)
		}
	case <-ctx.Done():
		err = fmt.Errorf("it has not ended: %w", ctx.Err())
	}
	text, _ := os.ReadFile(file + ".out") // none is an empty output
	return strings.ToValidUTF8(string(text), "?"), err
}

// stop ends the shell and all that it has started.
func (s *shell) stop() {
	s.stdin.Close()
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	for range s.codes { // until the shell has ended
	}
	_ = s.cmd.Wait() // killed
}
