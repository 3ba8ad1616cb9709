//go:build linux

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// vncReport is the VNC part of a report.
type vncReport struct {
	Cases []caseReport `json:"cases"`
	Proof *vncProof    `json:"proof"`
}

// vncReport returns nil without a VNC case.
func (r *runner) vncReport() *vncReport {
	if len(r.vnc) == 0 {
		return nil
	}
	rep := &vncReport{Proof: &r.vncProof}
	for _, c := range r.vnc {
		cr := r.caseReport(c.name, c.unit, c.metric, c.goal, vncServers)
		var toBare []float64
		for _, one := range cr.Rounds {
			toBare = append(toBare, c.ratioTo(one.Figures, bareCopy))
		}
		if s, ok := spreadOf(toBare); ok {
			cr.ToBare = &s
		}
		rep.Cases = append(rep.Cases, cr)
	}
	return rep
}

func (rep *vncReport) writeText(b *strings.Builder) {
	fmt.Fprintln(b, "\nVNC: l4-tls (caddy-l4's tls and proxy), bare (crypto/tls and io.Copy alone), gateway (its own defaults); each before a desktop of its own, in the load client's process")
	fmt.Fprintln(b, "viewers have TLS first, but vnc-bulk-vencrypt at the gateway, which is held against the others' TLS first")
	for _, line := range rep.Proof.lines() {
		fmt.Fprintln(b, line)
	}
	fmt.Fprintf(b, "\nratio = gateway / l4-tls of the same round, %s; us a MB are ms a GB\n", judged)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tgoal for\tl4-tls\tbare\tgateway\tratio\tto bare\tbound\tstretch\tverdict")
	for _, c := range rep.Cases {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.subject(),
			c.value(l4TLS), c.value(bareCopy), c.value(gateway), orDash(c.Ratio), orDash(c.ToBare), c.Goal, c.Verdict)
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
	fmt.Fprintf(b, "\nmedians of the rounds; a call is %d frames of %.1f MB, one pointer event, or one connect\n", framesPerCall, frameLen/megabyte)
	writeFigures(b, rep.Cases, vncServers)
}

// orDash is a spread as text, a dash if there is none.
func orDash(s *spread) string {
	if s == nil {
		return "-"
	}
	return s.String()
}
