// Command gotest runs "go test -json" with its arguments, shows only failures, and ends with the slow
// packages, the slowest tests and one line of counts.
//
//	gotest [-strict] -race ./...
//
// It counts top-level tests, examples and fuzz targets (seeds only); a package that does not build
// counts as one failure. With -strict a skipped test is a failure. The arguments from
// the first that begins with "./" are packages: up to three tests that fail are run again, once and
// alone, and are listed as flaky if they pass then.
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	args := os.Args[1:]
	strict := len(args) > 0 && args[0] == "-strict"
	if strict {
		args = args[1:]
	}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
	s := newSummary(os.Stdout)
	readErr := s.read(out)
	_, _ = io.Copy(io.Discard, out) // after a read error, so that go test can end
	runErr := cmd.Wait()
	if readErr != nil {
		fmt.Fprintln(os.Stderr, "gotest:", readErr)
		os.Exit(1)
	}
	if runErr != nil && s.failed == 0 {
		fmt.Fprintln(os.Stderr, "gotest: go test:", runErr)
		os.Exit(1)
	}
	s.repeat(func(pkg, test string) bool { return passesAlone(args, pkg, test) })
	if !s.finish(strict) {
		os.Exit(1)
	}
}

// passesAlone runs one test with the flags of args and shows its output.
func passesAlone(args []string, pkg, test string) bool {
	flags := args
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "./") }); i >= 0 {
		flags = args[:i]
	}
	cmd := exec.Command("go", slices.Concat([]string{"test"}, flags, []string{"-count=1", "-v", "-run", "^" + test + "$", pkg})...)
	fmt.Printf("once more: %s %s\n", pkg, test)
	out, err := cmd.CombinedOutput()
	if err != nil {
		os.Stdout.Write(out)
	}
	// A pattern that matches nothing passes too.
	return err == nil && bytes.Contains(out, []byte("--- PASS: "+test+" ("))
}
