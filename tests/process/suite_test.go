//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestChecksAreCountedAndPreparationsOnlyWhenTheyFail(t *testing.T) {
	r := NewResult("v")
	for _, step := range []struct {
		ok, want bool
	}{
		{r.Check("a", nil), true},
		{r.Check("b", errors.New("broken")), false},
		{r.Must("c", nil), true},
		{r.Must("d", errors.New("missing")), false},
	} {
		if step.ok != step.want {
			t.Errorf("a step returns %v, want %v", step.ok, step.want)
		}
	}
	if r.Passed != 1 || r.Failed != 2 {
		t.Errorf("%s", r)
	}
	lines := strings.Split(r.Details(), "\n")
	for i, want := range []string{"ok 1 - a (", "not ok 2 - b (", "not ok 3 - d ("} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q…", i, lines[i], want)
		}
	}
}

func TestResultsAreAppended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results")
	for _, r := range []*Result{{Name: "viewer a", Passed: 2, Took: 3 * time.Second}, {Name: "viewer b/c", Failed: 1}} {
		if err := r.Report(file); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if want := "viewer a\t2\t0\t3\nviewer b/c\t0\t1\t0\n"; err != nil || string(text) != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
}
