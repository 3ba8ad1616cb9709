// Command gotest runs "go test -json" with its arguments, shows only failures, and ends with one
// line of counts.
//
//	gotest [-strict] -race ./...
//
// It counts top-level tests, examples and fuzz targets (seeds only); a package that does not build
// counts as one failure. With -strict a skipped test is a failure.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
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
	if !s.finish(strict) || runErr != nil {
		os.Exit(1)
	}
}
