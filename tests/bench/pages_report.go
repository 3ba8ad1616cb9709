//go:build linux

package main

import (
	"fmt"
	"strings"
)

// pagesReport returns nil if the case was not selected.
func (r *runner) pagesReport() *caseReport {
	if !r.pages {
		return nil
	}
	rep := r.caseReport(pagesCase, "request", cpuPerOp, goal{}, pagesServers)
	return &rep
}

func writePages(b *strings.Builder, c *caseReport) {
	fmt.Fprintln(b, "\nopen pages: calls of 1 KB at a gateway with a console, and at one of whose console 25 overviews and 25 lists of calls are open; its CPU has that of the pages")
	if c.Error != "" {
		fmt.Fprintf(b, "%s failed: %s\n", c.Name, c.Error)
		return
	}
	fmt.Fprintf(b, "%s: with pages / without %s; median (min-max)\n", c.subject(), orDash(c.Ratio))
	if c.coarse() {
		fmt.Fprintf(b, "%s: CPU rests on fewer than %d clock ticks, take a longer -time\n", c.Name, coarseTicks)
	}
	writeFigures(b, []caseReport{*c}, pagesServers)
}
