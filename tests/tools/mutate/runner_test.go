package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	product = `package p

func Max(a, b int) int {
	if a > b {
		return a
	}
	return b
}
`
	itsTest = `package p

import "testing"

func TestMax(t *testing.T) {
	if Max(2, 1) != 2 || Max(1, 2) != 2 {
		t.Error("not the larger one")
	}
}
`
)

// fixture is a module of one package, and a runner of its tests.
func fixture(t *testing.T, test string) (*runner, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26.0\n", "p.go": product, "p_test.go": test} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return &runner{pkg: "p", dir: dir, temp: t.TempDir(), timeout: defaultTimeout}, filepath.Join(dir, "p.go")
}

func TestOutcomesOfMutants(t *testing.T) {
	r, path := fixture(t, itsTest)
	if err := r.unchanged(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		old, text string
		timeout   time.Duration
		want      outcome
	}{
		"a test fails":        {"a > b", "a < b", time.Minute, noticed},
		"no test fails":       {"a > b", "a >= b", time.Minute, missed},
		"it does not compile": {"a > b", "a b", time.Minute, notCompiled},
		"it does not end":     {"a > b", "func() bool { for {} }()", time.Millisecond, timedOut},
		"it takes all memory": {"return a", "return a - len(make([]byte, 8<<30)) + 8<<30", time.Minute, noticed},
	} {
		start := strings.Index(product, tc.old)
		r.timeout = func(time.Duration) time.Duration { return tc.timeout }
		got, err := r.try(t.Context(), mutant{file: path, start: start, end: start + len(tc.old), text: tc.text})
		if err != nil || got != tc.want {
			t.Errorf("%s: %s, want %s; error %v", name, got, tc.want, err)
		}
	}
	if src, err := os.ReadFile(path); err != nil || string(src) != product {
		t.Errorf("the source is now %q, %v", src, err)
	}
	if left, err := os.ReadDir(r.temp); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTestsThatFailWithoutAChangeAreAnError(t *testing.T) {
	r, _ := fixture(t, strings.Replace(itsTest, "!= 2", "!= 3", 1))
	if err := r.unchanged(t.Context()); err == nil || !strings.Contains(err.Error(), "not the larger one") {
		t.Errorf("got %v", err)
	}
	r, _ = fixture(t, "package q")
	if err := r.unchanged(t.Context()); err == nil || !strings.Contains(err.Error(), "package") {
		t.Errorf("got %v", err)
	}
}

func TestAnInterruptIsNoOutcome(t *testing.T) {
	r, path := fixture(t, itsTest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o, err := r.try(ctx, mutant{file: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %s, %v", o, err)
	}
}

func TestACommandEndsWithItsChildren(t *testing.T) {
	for name, script := range map[string]string{
		"at the timeout":        "sleep 600 >/dev/null 2>&1 & wait",
		"when it has ended":     "sleep 600 >/dev/null 2>&1 &",
		"which hold its output": "sleep 600 &",
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.ExtraFiles = []*os.File{w}
		_, _ = start(t.Context(), cmd, 100*time.Millisecond)
		_ = w.Close()
		_ = r.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := io.ReadAll(r); err != nil { // it ends when nobody can write any more
			t.Errorf("%s: a child lives on: %v", name, err)
		}
		_ = r.Close()
	}
}

func TestOnlyTheEndOfAnOutputIsKept(t *testing.T) {
	var w tailWriter
	for range 3 {
		_, _ = io.WriteString(&w, strings.Repeat("x", shownOutput))
	}
	_, _ = io.WriteString(&w, "end")
	if len(w.last) != shownOutput || !strings.HasSuffix(string(w.last), "xend") {
		t.Errorf("%d bytes are kept", len(w.last))
	}
}
