package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// event is one line of "go test -json" (cmd/test2json). A build's output and failure come as events
// too, with ImportPath instead of Package.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string

	Elapsed float64 // seconds
}

type testID struct{ pkg, test string }

// summary keeps the output of tests until it is known how they end.
type summary struct {
	w                       io.Writer
	passed, failed, skipped int
	output                  map[testID][]string
	failedTests             map[string]bool // packages with a failed test
	failures                []testID
	crashed                 bool // a package did not build, or a failure was a data race or a panic
	skips, flaky            []string
	times                   times
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, output: make(map[testID][]string), failedTests: make(map[string]bool)}
}

func (s *summary) read(r io.Reader) error {
	dec := json.NewDecoder(r)
	for {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading go test -json: %w", err)
		}
		s.add(e)
	}
}

func (s *summary) add(e event) {
	pkg := e.Package
	if pkg == "" {
		pkg = e.ImportPath
	}
	top, _, sub := strings.Cut(e.Test, "/")
	id := testID{pkg, top}
	switch e.Action {
	case "output", "build-output":
		s.times.output(pkg, e.Output)
		s.output[id] = append(s.output[id], e.Output)
	case "pass", "skip", "fail":
		if sub {
			return // its output belongs to the test at the top
		}
		s.times.end(id, e.Elapsed)
		s.end(e, id)
		delete(s.output, id)
	}
}

func (s *summary) end(e event, id testID) {
	switch {
	case e.Test == "" && e.Action == "fail":
		// A failed test was counted already; a crash, a failed build or TestMain was not.
		if !s.failedTests[id.pkg] {
			s.failed++
			s.crashed = true
			s.show(testID{pkg: e.FailedBuild})
			s.show(id)
		}
		fmt.Fprintf(s.w, "FAIL %s\n", id.pkg)
	case e.Test == "":
	case e.Action == "pass":
		s.passed++
	case e.Action == "skip":
		s.skipped++
		s.skips = append(s.skips, id.pkg+" "+id.test)
	default:
		s.failed++
		s.failedTests[id.pkg] = true
		s.failures = append(s.failures, id)
		s.show(id)
	}
}

func (s *summary) show(id testID) {
	for _, line := range s.output[id] {
		io.WriteString(s.w, line)
		if strings.Contains(line, "race detected") || strings.Contains(line, "DATA RACE") || strings.HasPrefix(line, "panic: ") {
			s.crashed = true
		}
	}
}

// maxRepeated is how many failed tests are run again. More are no accident of a busy machine.
const maxRepeated = 3

// repeat runs failed tests again, each once and alone. A test that passes then is counted as passed,
// and named as flaky at the end. Races and panics are never repeated: once is enough.
func (s *summary) repeat(passes func(pkg, test string) bool) {
	if s.crashed || len(s.failures) > maxRepeated {
		return
	}
	for _, id := range s.failures {
		if passes(id.pkg, id.test) {
			s.failed--
			s.passed++
			s.flaky = append(s.flaky, id.pkg+" "+id.test)
		}
	}
}

// finish prints the counts and reports whether everything passed.
func (s *summary) finish(strict bool) bool {
	for _, name := range s.flaky {
		fmt.Fprintf(s.w, "flaky: %s failed, and passed when it was run again alone\n", name)
	}
	for _, name := range s.skips {
		fmt.Fprintf(s.w, "skipped: %s\n", name)
	}
	s.times.print(s.w)
	if strict {
		s.failed += s.skipped
	}
	fmt.Fprintf(s.w, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
	return s.failed == 0 && s.passed > 0
}
