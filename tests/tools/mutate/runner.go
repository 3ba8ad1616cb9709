package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// outcome is how the tests reacted to a mutant.
type outcome int

const (
	noticed outcome = iota
	timedOut
	missed
	notCompiled
)

var outcomeNames = [...]string{"noticed", "timed out", "missed", "does not compile"}

func (o outcome) String() string { return outcomeNames[o] }

const (
	// buildTimeout bounds one build: a cold cache takes minutes.
	buildTimeout = 10 * time.Minute
	// firstTimeout bounds the tests without a change.
	firstTimeout = 10 * time.Minute
	// memory bounds the address space of a test: a loop that a mutant never leaves may allocate.
	memory = 4 << 30
	// shownOutput bounds what is shown of tests that fail without a change.
	shownOutput = 8 << 10
)

// defaultTimeout is how long the tests of a mutant may take, from how long they take without it.
func defaultTimeout(took time.Duration) time.Duration { return 5*took + 5*time.Second }

// runner builds and runs the tests of one package. The files that it makes are in temp.
type runner struct {
	pkg     string
	dir     string // the package's folder, where its tests run
	temp    string
	timeout func(took time.Duration) time.Duration
	took    time.Duration // without a change; set by unchanged
}

// unchanged runs the tests without a change and measures them.
func (r *runner) unchanged(ctx context.Context) error {
	work, err := makeDir(r.temp)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if out, err := r.build(ctx, work, ""); err != nil {
		return fmt.Errorf("building the tests of %s: %w\n%s", r.pkg, err, out)
	}
	began := time.Now()
	if out, err := r.test(ctx, work, firstTimeout); err != nil {
		return fmt.Errorf("the tests of %s fail without a change: %w\n%s", r.pkg, err, out)
	}
	r.took = time.Since(began)
	return nil
}

// try runs the tests with one mutant. An error means that the outcome is unknown.
func (r *runner) try(ctx context.Context, m mutant) (outcome, error) {
	work, err := makeDir(r.temp)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	overlay, err := writeOverlay(work, m)
	if err != nil {
		return 0, err
	}
	_, err = r.build(ctx, work, overlay)
	switch {
	case failed(err):
		return notCompiled, nil
	case err != nil:
		return 0, fmt.Errorf("building a mutant of %s: %w", r.pkg, err)
	}
	_, err = r.test(ctx, work, r.timeout(r.took))
	switch {
	case err == nil:
		return missed, nil
	case errors.Is(err, context.DeadlineExceeded):
		return timedOut, nil
	case failed(err):
		return noticed, nil
	}
	return 0, fmt.Errorf("running a mutant of %s: %w", r.pkg, err)
}

// failed reports whether a program ended with an error of its own, or left a child behind.
func failed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay)
}

// writeOverlay writes the changed file into work and the file that "go build -overlay" reads.
func writeOverlay(work string, m mutant) (string, error) {
	src, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(work, "changed.go")
	if err := os.WriteFile(changed, m.apply(src), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: changed}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(work, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

func binaryIn(work string) string { return filepath.Join(work, "p.test") }

// build makes the test binary in the folder work. It leaves out vet and debug information: only the
// tests decide, and linking is quicker.
func (r *runner) build(ctx context.Context, work, overlay string) (output []byte, err error) {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay="+overlay, "-o", binaryIn(work), r.pkg)
	cmd.Env = append(os.Environ(), "GOTMPDIR="+work)
	return start(ctx, cmd, buildTimeout)
}

// test runs the tests in the package's folder, up to the first that fails. Their own timeout ends
// them if this program is killed before it can.
func (r *runner) test(ctx context.Context, work string, timeout time.Duration) (output []byte, err error) {
	cmd := exec.Command("/bin/sh", "-c", `ulimit -v "$1" && exec "$2" -test.failfast -test.paniconexit0 -test.timeout "$3"`, "sh",
		strconv.Itoa(memory>>10), binaryIn(work), (timeout + time.Minute).String())
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+work)
	return start(ctx, cmd, timeout)
}

// start runs a command in a process group of its own and ends the whole group with it, after the
// timeout at the latest. The error is then the context's.
func start(ctx context.Context, cmd *exec.Cmd, timeout time.Duration) (output []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var tail tailWriter
	cmd.Stdout, cmd.Stderr = &tail, &tail
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // for output that a child of the command still holds open
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stop := context.AfterFunc(ctx, end)
	err = cmd.Wait()
	stop()
	end()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return bytes.Clone(tail.last), err
}

// tailWriter keeps the end of what is written.
type tailWriter struct{ last []byte }

func (w *tailWriter) Write(p []byte) (int, error) {
	w.last = append(w.last, p...)
	if extra := len(w.last) - shownOutput; extra > 0 {
		w.last = append(w.last[:0], w.last[extra:]...)
	}
	return len(p), nil
}
