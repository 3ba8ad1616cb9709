//go:build linux

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
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stopTimeout is how long a process may take to end when told to.
const stopTimeout = 5 * time.Second

// process is one that this command started and ends, with what it started itself:
// each has a process group of its own.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	ended  time.Time // when, valid after exited
	log    string
}

// start runs cmd with its output in the file log.
func start(cmd *exec.Cmd, log string) (*process, error) {
	f, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{}), log: log}
	go func() {
		_ = cmd.Wait() // the exit code is in cmd.ProcessState
		p.ended = time.Now()
		close(p.exited)
	}()
	return p, nil
}

// stop ends the whole group, also what outlives its leader.
func (p *process) stop() {
	group := -p.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // fails if all have ended
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
	}
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-p.exited
}

// running says whether p has not ended.
func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// said is the log of p, without the breaks of its lines. It only grows.
func (p *process) said() string {
	log, _ := os.ReadFile(p.log) // what is not there does not say what is looked for
	return strings.Join(strings.Fields(string(log)), " ")
}

// says is nil if text is in the log of p.
func (p *process) says(text string) error {
	if !strings.Contains(p.said(), text) {
		return fmt.Errorf("%s has not said %q", p.cmd.Path, text)
	}
	return nil
}

// showLog prints the end of the log.
func (p *process) showLog(w io.Writer) {
	const lines = 40
	text, err := os.ReadFile(p.log)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	all = all[max(0, len(all)-lines):]
	fmt.Fprintf(w, "the last lines of %s:\n%s\n", p.cmd.Path, strings.Join(all, "\n"))
}

// display is an X server: Xvfb, or the desktop itself.
type display struct {
	*process
	number string
}

var errNoDisplay = errors.New("the line is empty")

// startDisplay runs an X server on a display number of its own choice, which it
// writes to the descriptor that -displayfd names once it is ready.
func startDisplay(dir, program string, args ...string) (*display, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	const first = 3 // of exec.Cmd.ExtraFiles
	cmd := exec.Command(program, append([]string{"-displayfd", fmt.Sprint(first), "-nolisten", "tcp"}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	p, err := start(cmd, filepath.Join(dir, filepath.Base(program)+".log"))
	w.Close()
	if err != nil {
		return nil, fmt.Errorf("starting an X server: %w", err)
	}
	const patience = 20 * time.Second
	_ = r.SetReadDeadline(time.Now().Add(patience)) // pipes can
	line, err := bufio.NewReader(r).ReadString('\n')
	if number := strings.TrimSpace(line); err == nil && number != "" {
		return &display{p, number}, nil
	}
	p.showLog(os.Stderr)
	p.stop()
	return nil, fmt.Errorf("%s named no display: %w", program, cmp.Or(err, errNoDisplay))
}

// eventually calls check until it returns nil, and returns its last error when
// patience is over.
func eventually(ctx context.Context, patience time.Duration, check func() error) error {
	const pause = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
