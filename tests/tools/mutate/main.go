// Command mutate measures what the tests of a package notice. It breaks one operator or statement
// of the package at a time, runs the package's tests, and lists each change that no test noticed.
//
//	mutate [-n 100] [-seed 1] [-j 2] [-v] ./internal/limits
//
// Run it in the folder of the package's module. It changes no file there: the go command gets each
// change as an overlay. Mutants are drawn at random, each place in the source with the same chance;
// the same seed draws the same mutants of the same source. A mutant that does not compile is
// replaced by the next one. A mutant whose tests take five times as long as without it counts as
// noticed. The exit status says only whether the measurement was made.
//
// Compiled mutants stay in the go command's build cache until the go command removes old entries.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

func main() {
	var o options
	flag.IntVar(&o.count, "n", 100, "how many `mutants` to run")
	flag.Uint64Var(&o.seed, "seed", 1, "which mutants are drawn")
	flag.IntVar(&o.workers, "j", runtime.NumCPU(), "how many mutants run at once")
	flag.BoolVar(&o.verbose, "v", false, "show each mutant as it ends")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, flag.Args(), o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type options struct {
	count, workers int
	seed           uint64
	verbose        bool
}

func run(ctx context.Context, w io.Writer, names []string, o options) error {
	if len(names) != 1 || o.count < 1 || o.workers < 1 {
		return errors.New("want one package, as ./internal/limits, and -n and -j of at least 1")
	}
	pkg, err := listPackage(ctx, names[0])
	if err != nil {
		return err
	}
	var sites []site
	for _, file := range pkg.GoFiles {
		path := filepath.Join(pkg.Dir, file)
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := findSites(path, src)
		if err != nil {
			return err
		}
		sites = append(sites, found...)
	}
	temp, err := makeDir("")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := &runner{pkg: pkg.ImportPath, dir: pkg.Dir, temp: temp, timeout: defaultTimeout}
	if err := r.unchanged(ctx); err != nil {
		return err
	}
	s := &session{try: r.try, want: o.count, mutants: draw(sites, o.seed)}
	if o.verbose {
		s.ended = func(m mutant, became outcome) { fmt.Fprintf(w, "%s: %s\n", became, describe(m)) }
	}
	results, err := s.run(ctx, o.workers)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %d sites, seed %d, without a change %.1fs\n", names[0], len(sites), o.seed, r.took.Seconds())
	report(w, results)
	return nil
}

// makeDir makes a folder through which tests reach theirs: PostgreSQL does not run as root.
func makeDir(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, "mutate-")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o711)
}

// listed is what "go list" prints of a package.
type listed struct {
	Dir, ImportPath           string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
}

func listPackage(ctx context.Context, name string) (listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles", "--", name)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return listed{}, fmt.Errorf("listing %q: %w", name, err)
	}
	var pkg listed
	if err := json.Unmarshal(out, &pkg); err != nil {
		return listed{}, fmt.Errorf("%q is not one package: %w", name, err)
	}
	if len(pkg.TestGoFiles)+len(pkg.XTestGoFiles) == 0 {
		return listed{}, fmt.Errorf("%q has no tests", name)
	}
	return pkg, nil
}
