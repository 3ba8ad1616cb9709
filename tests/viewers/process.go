//go:build linux

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// program is one that this command started and ends.
type program struct{ *process.Process }

// start runs cmd with its output in the file log.
func start(cmd *exec.Cmd, log string) (*program, error) {
	p, err := process.Start(cmd, log)
	return &program{p}, err
}

// said is the log of p without line breaks. It only grows.
func (p *program) said() string { return strings.Join(strings.Fields(p.Log()), " ") }

// says returns an error unless text is in the log of p.
func (p *program) says(text string) error {
	if !strings.Contains(p.said(), text) {
		return fmt.Errorf("%s has not said %q", p.Path(), text)
	}
	return nil
}

// display is an X server: Xvfb, or the desktop itself.
type display struct {
	*program
	number string
}

var errNoDisplay = errors.New("the line is empty")

// startDisplay runs an X server on a display number that it chooses itself, and writes to the
// descriptor of -displayfd once it is ready.
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
	const timeout = 20 * time.Second
	_ = r.SetReadDeadline(time.Now().Add(timeout)) // pipes support it
	line, err := bufio.NewReader(r).ReadString('\n')
	if number := strings.TrimSpace(line); err == nil && number != "" {
		return &display{p, number}, nil
	}
	p.ShowLog(os.Stderr)
	p.Stop()
	return nil, fmt.Errorf("%s named no display: %w", program, cmp.Or(err, errNoDisplay))
}
