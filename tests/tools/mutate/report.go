package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// report prints how many mutants had each outcome, and those that no test noticed.
func report(w io.Writer, results []result) {
	var counts [len(outcomeNames)]int
	var unnoticed []mutant
	for _, r := range results {
		counts[r.outcome]++
		if r.outcome == missed {
			unnoticed = append(unnoticed, r.mutant)
		}
	}
	compiled := len(results) - counts[notCompiled]
	for _, row := range []struct {
		outcome
		note string
	}{{noticed, ""}, {timedOut, "counts as noticed"}, {missed, ""}, {notCompiled, "not counted"}} {
		fmt.Fprintf(w, "%-17s %4d", row.outcome, counts[row.outcome])
		if row.note != "" {
			fmt.Fprintf(w, "  (%s)", row.note)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d of %d mutants noticed\n", counts[noticed]+counts[timedOut], compiled)
	slices.SortFunc(unnoticed, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.start, b.start))
	})
	for _, m := range unnoticed {
		fmt.Fprintln(w, describe(m))
	}
}

// describe is one line about a mutant: where, and the source before and after.
func describe(m mutant) string {
	return fmt.Sprintf("%s:%d: %s -> %s", shortPath(m.file), m.line, m.before, m.after)
}

// shortPath is relative to the working directory for what lies below it.
func shortPath(path string) string {
	if dir, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(short) {
			return short
		}
	}
	return path
}
