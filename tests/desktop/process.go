//go:build linux

package desktop

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

// Program is one that a test has started and ends.
type Program struct{ *process.Process }

// StartProgram runs cmd with its output in the file log.
func StartProgram(cmd *exec.Cmd, log string) (*Program, error) {
	p, err := process.Start(cmd, log)
	if err != nil {
		return nil, err
	}
	return &Program{p}, nil
}

// Said is the log of p without line breaks. It only grows.
func (p *Program) Said() string { return strings.Join(strings.Fields(p.Log()), " ") }

// Says returns an error unless text is in the log of p.
func (p *Program) Says(text string) error {
	if !strings.Contains(p.Said(), text) {
		return fmt.Errorf("%s has not said %q", p.Path(), text)
	}
	return nil
}

// Display is an X server: Xvfb, or the desktop itself.
type Display struct {
	*Program
	Number string
}

var errNoDisplay = errors.New("the line is empty")

// StartDisplay runs an X server on a display number that it chooses itself, and writes to the
// descriptor of -displayfd once it is ready.
func StartDisplay(dir, program string, args ...string) (*Display, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	const first = 3 // of exec.Cmd.ExtraFiles
	cmd := exec.Command(program, append([]string{"-displayfd", fmt.Sprint(first), "-nolisten", "tcp"}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	p, err := StartProgram(cmd, filepath.Join(dir, filepath.Base(program)+".log"))
	w.Close()
	if err != nil {
		return nil, fmt.Errorf("starting an X server: %w", err)
	}
	const timeout = 20 * time.Second
	_ = r.SetReadDeadline(time.Now().Add(timeout)) // pipes support it
	line, err := bufio.NewReader(r).ReadString('\n')
	if number := strings.TrimSpace(line); err == nil && number != "" {
		return &Display{p, number}, nil
	}
	p.ShowLog(os.Stderr)
	p.Stop()
	return nil, fmt.Errorf("%s named no display: %w", program, cmp.Or(err, errNoDisplay))
}
