package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPackageIsMeasured(t *testing.T) {
	fixture(t, itsTest)
	t.Setenv("TMPDIR", t.TempDir())
	var w strings.Builder
	if err := run(t.Context(), &w, []string{"."}, options{count: 10, workers: 2, verbose: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nnoticed: p.go:4: if a > b { -> if a <= b {\n",
		"\n.: 1 sites, seed 0, without a change ",
		"\nnoticed              1\n",
		"\n1 of 2 mutants noticed\np.go:4: if a > b { -> if a >= b {\n",
	} {
		if !strings.Contains("\n"+w.String(), want) {
			t.Errorf("%q is missing in\n%s", want, w.String())
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWhatCannotBeMeasuredIsAnError(t *testing.T) {
	_, path := fixture(t, strings.Replace(itsTest, "!= 2", "!= 3", 1))
	one := options{count: 1, workers: 1}
	for name, tc := range map[string]struct {
		names []string
		o     options
		want  string
	}{
		"no package":         {nil, one, "one package"},
		"two packages":       {[]string{".", "."}, one, "one package"},
		"no mutants":         {[]string{"."}, options{workers: 1}, "-n"},
		"no workers":         {[]string{"."}, options{count: 1}, "-j"},
		"an unknown package": {[]string{"./absent"}, one, "listing"},
		"tests that fail":    {[]string{"."}, one, "fail without a change"},
	} {
		if err := run(t.Context(), &strings.Builder{}, tc.names, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
	if err := os.WriteFile(path, []byte("package p\n\nfunc {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), &strings.Builder{}, []string{"."}, one); err == nil || !strings.Contains(err.Error(), "p.go:3") {
		t.Errorf("a file that is no Go: got %v", err)
	}
}

func TestOnePackageWithTestsIsWanted(t *testing.T) {
	pkg, err := listPackage(t.Context(), ".")
	if err != nil || !strings.HasSuffix(pkg.ImportPath, "/mutate") || filepath.Base(pkg.Dir) != "mutate" || len(pkg.GoFiles) == 0 {
		t.Errorf("got %+v, %v", pkg, err)
	}
	for name, want := range map[string]string{"../...": "one package", "errors/absent": "listing", "unsafe": "no tests"} {
		if _, err := listPackage(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}
