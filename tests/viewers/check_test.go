//go:build linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestChecksAreCountedAndPreparationsOnlyWhenTheyFail(t *testing.T) {
	r := &result{name: "v"}
	for _, step := range []struct {
		ok, want bool
	}{
		{r.check("a", nil), true},
		{r.check("b", errors.New("broken")), false},
		{r.must("c", nil), true},
		{r.must("d", errors.New("missing")), false},
	} {
		if step.ok != step.want {
			t.Errorf("a step says %v, want %v", step.ok, step.want)
		}
	}
	if r.passed != 1 || r.failed != 2 {
		t.Errorf("%s", r)
	}
	lines := strings.Split(r.details(), "\n")
	for i, want := range []string{"ok 1 - a (", "not ok 2 - b (", "not ok 3 - d ("} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q…", i, lines[i], want)
		}
	}
}

func TestResultsAreAppended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	for _, r := range []*result{{name: "a", passed: 2, took: 3 * time.Second}, {name: "b/c", failed: 1}} {
		if err := r.appendTo(file); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if want := "viewer a\t2\t0\t3\nviewer b/c\t0\t1\t0\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
}

func TestAMissingViewerIsAFailure(t *testing.T) {
	s := &session{result: &result{}, screen: &screen{home: t.TempDir()}, dir: t.TempDir()}
	if s.open("A=B", "/nonexistent/viewer"); s.failed != 1 || s.passed != 0 {
		t.Errorf("%s: %s", s.result, s.details())
	}
}

func TestAMissingScreenIsAFailure(t *testing.T) {
	o := options{programs: programs{xvfb: "/nonexistent/xvfb", xvnc: "/nonexistent/xvnc"}}
	if _, err := startScreen(t.Context(), t.TempDir(), o.xvfb, o.openbox); err == nil {
		t.Error("there is a screen without an X server")
	}
	if ok, err := o.run(t.Context()); ok || err == nil {
		t.Errorf("without a desktop: %v, %v", ok, err)
	}
}

func TestViewersHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range viewers {
		if v.name == "" || seen[v.name] || strings.ContainsAny(v.name, "\t\n ") {
			t.Errorf("the name %q", v.name)
		}
		seen[v.name] = true
	}
}
