package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Process is a Caddy in its own process, on the ports and the data of a Gateway.
type Process struct {
	t      *testing.T
	Cmd    *exec.Cmd
	Output *LogBuffer
	exited chan struct{}
	err    error // its exit error; set before exited is closed
}

// Spawn runs `caddy run`, played by this test binary. It is killed at the end of the test at the
// latest.
func (h *Gateway) Spawn(s Setup) *Process {
	h.T.Helper()
	text := strings.Replace(h.Caddyfile(s), "output gatehouse_test", "output stderr", 1)
	text = strings.Replace(text, "grace_period 5s", "grace_period 100ms", 1)
	config := filepath.Join(h.Dir, "Caddyfile-"+strconv.Itoa(h.Ports.HTTP))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		h.T.Fatal(err)
	}
	c := &Process{t: h.T, Cmd: exec.CommandContext(h.T.Context(), self), Output: new(LogBuffer), exited: make(chan struct{})}
	c.Cmd.Args = []string{"caddy", "run", "--config", config, "--adapter", "caddyfile"}
	c.Cmd.Stdout, c.Cmd.Stderr = c.Output, c.Output
	if err := c.Cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	go func() {
		defer close(c.exited)
		c.err = c.Cmd.Wait()
	}()
	h.T.Cleanup(func() {
		_ = c.Cmd.Process.Kill()
		<-c.exited
		if h.T.Failed() {
			h.T.Logf("a child wrote:\n%s", c.Output.Text())
		}
	})
	return c
}

// Run spawns a child and waits until it answers.
func (h *Gateway) Run(s Setup) *Process {
	h.T.Helper()
	c := h.Spawn(s)
	if !Eventually(func() bool {
		status, _, err := h.Client.Try(h.Client.Request("/v1/models", "full", ""))
		return err == nil && status == 200 || c.Gone()
	}) || c.Gone() {
		h.T.Fatal("the child does not answer")
	}
	return c
}

// Gone reports whether it has ended.
func (c *Process) Gone() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// Wait waits for the child's end and returns how it ended.
func (c *Process) Wait() error {
	c.t.Helper()
	select {
	case <-c.exited:
		return c.err
	case <-time.After(WaitLimit):
		c.t.Fatal("the child does not end")
		return nil
	}
}

// Signal sends a signal.
func (c *Process) Signal(s os.Signal) {
	c.t.Helper()
	if err := c.Cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// Operate runs a command of the operator, as another process.
func (c *Process) Operate(args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(c.t.Context(), c.Cmd.Path)
	cmd.Args = append([]string{"caddy", "gatehouse"}, args...)
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	return string(out), failure.String(), err
}
