//go:build linux

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// clusterReport is the part of a report about shared limits.
type clusterReport struct {
	Cases  []caseReport `json:"cases"`
	Engine []engineUse  `json:"engine"` // by round
}

// clusterReport returns nil if the case was not selected.
func (r *runner) clusterReport() *clusterReport {
	if !r.cluster {
		return nil
	}
	rep := &clusterReport{Engine: r.engine}
	for _, row := range clusterRows {
		rep.Cases = append(rep.Cases, r.caseReport(row.name, "call", row.metric, row.goal, clusterServers))
	}
	return rep
}

func (rep *clusterReport) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\nshared limits: one gateway alone and one of a cluster, with an engine and PostgreSQL on this machine; the key has a rate, a concurrency and a hard budget, the key of free has none\n")
	fmt.Fprintf(b, "cluster-p50 is by how many milliseconds the p50 at the fixed rate is longer, cluster-1k the ratio of the gateway's CPU, shared / alone; each %s\n", judged)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tfigure\tmedian and range\tbound\tstretch\tverdict")
	for _, c := range rep.Cases {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", c.Name, c.Metric, orDash(c.Ratio), c.Goal, c.Verdict)
	}
	t.Flush()
	for _, c := range rep.Cases {
		if c.Error != "" {
			fmt.Fprintf(b, "%s failed: %s\n", c.Name, c.Error)
		}
	}
	if messages, script, cpu, ok := rep.engine(); ok {
		fmt.Fprintf(b, "the engine, a call: %s messages; %s us in commands, so %.0f calls a second on one core; %s us of CPU with reading and writing, so %.0f calls a second on this one\n",
			messages, script, 1e6/script.Median, cpu, 1e6/cpu.Median)
	}
	fmt.Fprintln(b)
	writeFigures(b, rep.Cases[:1], clusterServers)
}

// engine sums up the rounds. ok is false if there is none.
func (rep *clusterReport) engine() (messages, script, cpu spread, ok bool) {
	var m, s, c []float64
	for _, use := range rep.Engine {
		m, s, c = append(m, use.Messages), append(s, use.Script), append(c, use.CPU)
	}
	messages, ok = spreadOf(m)
	script, _ = spreadOf(s)
	cpu, _ = spreadOf(c)
	return messages, script, cpu, ok && script.Median > 0 && cpu.Median > 0
}
