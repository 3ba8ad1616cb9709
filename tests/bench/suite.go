//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// suite is a comparison with servers of its own, beside those of model calls and of VNC.
type suite struct {
	name    string // of -only
	head    string // of the report
	servers []role
	rows    []suiteRow
	measure func(r *runner, ctx context.Context, f *fleet, n int) (map[role]figures, error)
	notes   func(r *runner) []string // nil without any
}

// suiteRow is one row of a suite's report.
type suiteRow struct {
	name, unit string
	metric     metric
	goal       goal
	value      func(map[role]figures) float64 // that the goal bounds
}

// cpuRatio is the value of most rows.
func cpuRatio(of, base role) func(map[role]figures) float64 {
	return func(f map[role]figures) float64 { return ratio(f[of].CPU, f[base].CPU) }
}

func allSuites() []suite { return []suite{browserSuite(), pagesSuite(), scaleSuite(), clusterSuite()} }

// choose sets the cases that -only names, or all. Without the engines of a cluster all is all else.
func (r *runner) choose() (err error) {
	all, o := allSuites(), r.opts
	if o.Only == "" {
		r.suites = slices.DeleteFunc(all, func(s suite) bool {
			return s.name == clusterCase && len(clustertest.EnginePrograms()) == 0
		})
		r.cases, r.vnc, err = chooseCases(o)
		return err
	}
	var rest []string
	for name := range strings.SplitSeq(o.Only, ",") {
		if i := slices.IndexFunc(all, func(s suite) bool { return s.name == name }); i >= 0 {
			r.suites = append(r.suites, all[i])
		} else {
			rest = append(rest, name)
		}
	}
	if len(rest) > 0 {
		o.Only = strings.Join(rest, ",")
		r.cases, r.vnc, err = chooseCases(o)
	}
	return err
}

// suiteRound measures a suite once.
func (r *runner) suiteRound(ctx context.Context, s suite, n int) error {
	if r.failures[s.rows[0].name] != nil {
		return nil
	}
	fmt.Fprintf(r.progress, "round %d/%d %s\n", n+1, r.opts.Rounds, s.name)
	f, err := newFleet(r.opts)
	if err != nil {
		return err
	}
	defer f.close()
	got, err := s.measure(r, ctx, f, n)
	for _, row := range s.rows {
		one := round{Order: rotate(s.servers, n), Figures: got, Ratio: finite(row.value(got))}
		if err := r.keep(ctx, f, row.name, one, err); err != nil {
			return err
		}
	}
	return nil
}

// section is the part of a report about a suite, or about VNC.
type section struct {
	Name  string       `json:"name"`
	Cases []caseReport `json:"cases"`

	head, notes []string
	servers     []role
	measured    int // the first cases; those after them are other figures of the same calls
}

func (r *runner) suiteSection(s suite) section {
	sec := section{Name: s.name, head: []string{s.head}, servers: s.servers, measured: 1}
	for _, row := range s.rows {
		sec.Cases = append(sec.Cases, r.caseReport(row.name, row.unit, row.metric, row.goal, s.servers))
	}
	if s.notes != nil {
		sec.notes = s.notes(r)
	}
	return sec
}

func (r *runner) vncSection() section {
	sec := section{Name: "vnc", servers: vncServers, measured: len(r.vnc), head: append([]string{
		"VNC: l4-tls (caddy-l4's tls and proxy), bare (crypto/tls and io.Copy alone), gateway (its own defaults); each before a desktop of its own, in the load client's process",
		"viewers have TLS first, but vnc-bulk-vencrypt at the gateway, which is held against the others' TLS first",
	}, r.vncProof.lines()...)}
	sec.head = append(sec.head, fmt.Sprintf("ratio = gateway / l4-tls of the same round; us a MB are ms a GB; a call is %d frames of %.1f MB, one pointer event, or one connect",
		framesPerCall, frameLen/megabyte))
	for _, c := range r.vnc {
		sec.Cases = append(sec.Cases, r.caseReport(c.name, c.unit, c.metric, c.goal, vncServers))
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
	writeFigures(b, s.Cases[:s.measured], s.servers)
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
