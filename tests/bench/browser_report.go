//go:build linux

package main

import (
	"fmt"
	"strings"
)

// browserReport is the part of a report about the desktop in a browser.
type browserReport struct {
	Case         caseReport `json:"case"`
	ToWebsockify *spread    `json:"ratio_to_websockify,omitempty"` // nil where it is not installed
}

// browserReport returns nil if the case was not selected.
func (r *runner) browserReport() *browserReport {
	if !r.browser {
		return nil
	}
	rep := &browserReport{Case: r.caseReport(browserCase, "MB", cpuPerOp, goal{}, browserServers())}
	var to []float64
	for _, one := range rep.Case.Rounds {
		if f, ok := one.Figures[websockify]; ok {
			to = append(to, ratio(one.Figures[gateway].CPU, f.CPU))
		}
	}
	if s, ok := spreadOf(to); ok {
		rep.ToWebsockify = &s
	}
	return rep
}

func (rep *browserReport) writeText(b *strings.Builder) {
	c := rep.Case
	fmt.Fprintln(b, "\ndesktop in a browser: frames through one WebSocket over TLS; bare-ws (the library and io.Copy alone), gateway (its console), websockify; every frame checked at its viewer")
	if c.Error != "" {
		fmt.Fprintf(b, "%s failed: %s\n", c.Name, c.Error)
		return
	}
	fmt.Fprintf(b, "%s: gateway / bare-ws %s, gateway / websockify %s; %s; us a MB are ms a GB\n", c.subject(), orDash(c.Ratio), orDash(rep.ToWebsockify), judged)
	if c.coarse() {
		fmt.Fprintf(b, "%s: CPU rests on fewer than %d clock ticks, take a longer -time\n", c.Name, coarseTicks)
	}
	writeFigures(b, []caseReport{c}, browserServers())
}
