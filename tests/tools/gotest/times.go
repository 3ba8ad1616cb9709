package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// module is left out of the names of packages.
	module = "github.com/gatehouse-proxy/gatehouse/"
	// slowPackage is how many seconds a package takes that is worth a line.
	slowPackage = 5
	// slowTests are as many of the slowest tests, and slowTest is the least that any of them takes.
	slowTests, slowTest = 10, 1
)

// times has what ran and for how long. What go test has from its cache did not run.
type times struct {
	packages, tests []timed
	cached          map[string]bool
}

type timed struct {
	id      testID
	seconds float64
}

// output notices a package from the cache by what go test prints of it.
func (ts *times) output(pkg, line string) {
	if strings.HasPrefix(line, "ok ") && strings.HasSuffix(line, "(cached)\n") {
		if ts.cached == nil {
			ts.cached = make(map[string]bool)
		}
		ts.cached[pkg] = true
	}
}

func (ts *times) end(id testID, seconds float64) {
	if id.test == "" {
		ts.packages = append(ts.packages, timed{id, seconds})
	} else {
		ts.tests = append(ts.tests, timed{id, seconds})
	}
}

// print writes the slow packages and tests, the slowest first.
func (ts *times) print(w io.Writer) {
	ts.list(w, "slow packages:", ts.packages, slowPackage, len(ts.packages))
	ts.list(w, "slowest tests:", ts.tests, slowTest, slowTests)
}

func (ts *times) list(w io.Writer, title string, all []timed, least float64, most int) {
	all = slices.DeleteFunc(slices.Clone(all), func(t timed) bool { return t.seconds < least || ts.cached[t.id.pkg] })
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	all = all[:min(most, len(all))]
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(w, title)
	for _, t := range all {
		fmt.Fprintf(w, "%8.1f s  %s\n", t.seconds, strings.TrimSpace(strings.TrimPrefix(t.id.pkg, module)+" "+t.id.test))
	}
}
