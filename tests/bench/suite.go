//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// suite is a comparison: servers that are started in each round, and rows of the report.
type suite struct {
	name    string // of -only, which also names rows
	servers []role
	rows    []row
	head    func(r *runner) []string // of the report
	notes   func(r *runner) []string // below it; nil: none
	// round measures the rows that are chosen once, and keeps the result of each.
	round func(ctx context.Context, r *runner, s *suite, n int) error
}

// row is a row of a suite's report.
type row struct {
	name, unit string
	metric     metric
	goal       goal
	value      func(map[role]figures) float64 // that the goal bounds
	of         string                         // the row that makes its calls, "" if it makes its own
}

// cpuRatio is the value of most rows. A server that made no calls has none.
func cpuRatio(of, base role) func(map[role]figures) float64 {
	return func(f map[role]figures) float64 {
		if f[of].Calls == 0 {
			return math.NaN()
		}
		return ratio(f[of].CPU, f[base].CPU)
	}
}

func allSuites() []suite {
	return []suite{modelSuite(), vncSuite(), awaySuite(), browserSuite(), pagesSuite(), screenshotSuite(), scaleSuite(), clusterSuite()}
}

// choose sets the suites and rows that -only names, or all. Without the engines of a cluster all is all
// else.
func (r *runner) choose() error {
	all := allSuites()
	switch {
	case r.opts.Peers != "":
		r.suites = []suite{peerSuite()}
		return nil
	case r.opts.Only == "":
		r.suites = slices.DeleteFunc(all, func(s suite) bool {
			return s.name == clusterCase && len(clustertest.EnginePrograms()) == 0
		})
		return nil
	}
	names, known := strings.Split(r.opts.Only, ","), []string{}
	for _, s := range all {
		known = append(known, s.name)
		whole := slices.Contains(names, s.name)
		s.rows = slices.DeleteFunc(s.rows, func(w row) bool {
			known = append(known, w.name)
			return !whole && !slices.Contains(names, w.name) && !slices.Contains(names, w.of)
		})
		if len(s.rows) > 0 {
			r.suites = append(r.suites, s)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("no case %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// atOnce is the round of a suite whose rows are figures of the same calls.
func atOnce(measure func(ctx context.Context, r *runner, f *fleet, n int) (map[role]figures, error)) func(context.Context, *runner, *suite, int) error {
	return func(ctx context.Context, r *runner, s *suite, n int) error {
		if r.failures[s.rows[0].name] != nil {
			return nil
		}
		fmt.Fprintf(r.progress, "round %d/%d %s\n", n+1, r.opts.Rounds, s.name)
		f, err := newFleet(r.opts)
		if err != nil {
			return err
		}
		defer f.close()
		got, err := measure(ctx, r, f, n)
		return r.keep(ctx, f, s, s.rows, rotate(s.servers, n), got, err)
	}
}

// section is the part of a report about a suite.
type section struct {
	Name  string       `json:"name"`
	Cases []caseReport `json:"cases"`

	head, notes []string
	servers     []role
}

func (r *runner) section(s *suite) section {
	sec := section{Name: s.name, head: s.head(r), servers: s.servers}
	for _, w := range s.rows {
		sec.Cases = append(sec.Cases, r.caseReport(w, s.servers))
	}
	if s.notes != nil {
		sec.notes = s.notes(r)
	}
	return sec
}

func (s section) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s\n%s\n", strings.Join(s.head, "\n"), judged)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "case\tgoal for")
	for _, which := range s.servers {
		fmt.Fprintf(t, "\t%s", which)
	}
	fmt.Fprintln(t, "\tratio or figure\tbound\tstretch\tverdict")
	for _, c := range s.Cases {
		fmt.Fprintf(t, "%s\t%s", c.Name, c.subject())
		for _, which := range s.servers {
			fmt.Fprintf(t, "\t%s", c.value(which))
		}
		fmt.Fprintf(t, "\t%s\t%s\t%s\n", orDash(c.Ratio), c.Goal, c.Verdict)
	}
	t.Flush()
	writeTroubles(b, s.Cases)
	for _, note := range s.notes {
		fmt.Fprintln(b, note)
	}
	fmt.Fprintln(b)
	writeFigures(b, slices.DeleteFunc(slices.Clone(s.Cases), func(c caseReport) bool { return c.of != "" }), s.servers)
}

// writeTroubles writes which cases failed, and which figures are coarse.
func writeTroubles(b *strings.Builder, cases []caseReport) {
	for _, c := range cases {
		if c.Error != "" {
			fmt.Fprintf(b, "%s failed: %s\n", c.Name, c.Error)
		}
		if c.coarse() {
			fmt.Fprintf(b, "%s: CPU rests on fewer than %d clock ticks, take a longer -time\n", c.Name, coarseTicks)
		}
	}
}

// orDash is a spread as text, a dash if there is none.
func orDash(s *spread) string {
	if s == nil {
		return "-"
	}
	return s.String()
}
