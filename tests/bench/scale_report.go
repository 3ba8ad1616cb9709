//go:build linux

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// scaleReport is the part of a report about many keys.
type scaleReport struct {
	Few   string       `json:"few"`
	Many  string       `json:"many"`
	Cases []caseReport `json:"cases"`
}

// scaleReport returns nil if the case was not selected.
func (r *runner) scaleReport() *scaleReport {
	if !r.scale {
		return nil
	}
	rep := &scaleReport{Few: fewKeys.String(), Many: r.many.String()}
	for _, row := range scaleRows {
		rep.Cases = append(rep.Cases, r.caseReport(row.name, row.unit, row.metric, row.goal, scaleServers))
	}
	return rep
}

func (rep *scaleReport) writeText(b *strings.Builder) {
	fmt.Fprintf(b, "\nmany keys: gateway-few has %s, gateway-many %s; the keys are in a key_file, the calls of 1 KB spread over %d keys and models\n", rep.Few, rep.Many, scaleCalls)
	fmt.Fprintf(b, "scale-1k is the ratio of the CPU, many / few; scale-memory the growth of anonymous memory from few to many, after a collection, in KB (1,000 bytes) a key, "+
		"models and limits included; scale-start the seconds from the start of the process to its first answered call; each %s\n", judged)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tgoal for\tfew\tmany\tratio or figure\tbound\tstretch\tverdict")
	for _, c := range rep.Cases {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.subject(), c.value(fewKeysRole), c.value(manyKeysRole), orDash(c.Ratio), c.Goal, c.Verdict)
	}
	t.Flush()
	for _, c := range rep.Cases {
		if c.Error != "" {
			fmt.Fprintf(b, "%s failed: %s\n", c.Name, c.Error)
		}
		if c.coarse() {
			fmt.Fprintf(b, "%s: CPU rests on fewer than %d clock ticks, take a longer -time\n", c.Name, coarseTicks)
		}
	}
	fmt.Fprintln(b)
	writeFigures(b, rep.Cases[:1], scaleServers)
}
