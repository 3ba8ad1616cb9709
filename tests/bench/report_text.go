//go:build linux

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// writeText writes the report for people: first the goals, then the figures behind them.
func (rep *report) writeText(w io.Writer) error {
	var b strings.Builder
	rep.writeHead(&b)
	if len(rep.Cases) > 0 {
		rep.writeModelHead(&b)
		rep.writeGoals(&b)
		fmt.Fprintf(&b, "\nmedians of the rounds; for paced streams the latency is that of the first event\n")
		writeFigures(&b, rep.Cases, modelServers)
	}
	for _, more := range rep.More {
		more.writeText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (rep *report) writeHead(b *strings.Builder) {
	o, m := rep.Options, rep.Machine
	fmt.Fprintf(b, "bench %s: %d rounds of %s a measurement\n", rep.Started.Format("2006-01-02 15:04"), o.Rounds, o.Time)
	fmt.Fprintf(b, "machine: %d CPUs, linux %s, %s, caddy built with %s; clock tick %d ms\n", m.CPUs, m.Kernel, m.Go, m.ServerGo, m.TickMS)
	fmt.Fprintf(b, "servers: GOMAXPROCS=%d GOGC=%s GOMEMLIMIT=%s; client and servers share the machine\n", o.GOMAXPROCS, o.GOGC, o.MemLimit)
}

func (rep *report) writeModelHead(b *strings.Builder) {
	fmt.Fprintf(b, "\nmodel calls: direct, reverse_proxy, gateway, gateway-on; prompts: %s\n", rep.Options.Prompt.describe())
	fmt.Fprintf(b, "reverse_proxy: no access log, %d idle upstream connections like the gateway; for wrong-key and rate-refused a header matcher, the access log and a 401\n", upstreamIdle)
	if rep.Proof != nil {
		for _, line := range rep.Proof.lines() {
			fmt.Fprintln(b, line)
		}
	}
}

// says is the head of a report that does not depend on the run.
func says(text string) func(*runner) []string {
	return func(*runner) []string { return []string{text} }
}

// judged explains how ratios become verdicts.
const judged = "median (min-max); a bound holds when the median of at least five rounds is under it"

func (rep *report) writeGoals(b *strings.Builder) {
	fmt.Fprintf(b, "\nratio = gateway / reverse_proxy of the same round, %s\n", judged)
	fmt.Fprintln(b, "p50 is what a server adds to the direct one; p99 is that of the whole call, because a difference of two p99 is mostly noise")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tgoal for\tdirect\treverse_proxy\tgateway\tratio\tbound\tstretch\tverdict")
	on := false
	for _, c := range rep.Cases {
		if c.Duties != "" {
			on = true
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.subject(),
			c.value(direct), c.value(proxy), c.value(gateway), orDash(c.Ratio), c.Goal, c.Verdict)
	}
	t.Flush()
	if on {
		rep.writeDuties(b)
	}
	writeTroubles(b, rep.Cases)
	for _, c := range rep.Cases {
		for _, which := range modelServers {
			if f, ok := c.Medians[which]; ok && c.Metric == addedP50 && f.PerSecond < reachedRate*float64(rep.Options.Rate) {
				fmt.Fprintf(b, "%s: %s reached %.0f of %d calls/s, so its latency is that of a queue\n", c.Name, which, f.PerSecond, rep.Options.Rate)
			}
		}
	}
}

// writeDuties writes the rows of gateways with duties on: their cost compared with the plain proxy,
// which the goal is about, and with the gateway without them.
func (rep *report) writeDuties(b *strings.Builder) {
	fmt.Fprintf(b, "\ngateway-on has duties on, gateway has them off; both ratios are of the same round, %s, for the ratio to reverse_proxy\n", judged)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\ton\tgoal for\treverse_proxy\tgateway\tgateway-on\tto reverse_proxy\ton/off\tbound\tstretch\tverdict")
	for _, c := range rep.Cases {
		if c.Duties == "" {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Name, c.Duties, c.subject(),
			c.value(proxy), c.value(gateway), c.value(gatewayOn), orDash(c.Ratio), orDash(c.ToOff), c.Goal, c.Verdict)
	}
	t.Flush()
}

// subject names what the ratio of a case compares, with its unit.
func (c caseReport) subject() string {
	switch c.Metric {
	case addedP50:
		return "p50 over direct, us"
	case tripP50:
		return "p50, us"
	case tripP99:
		return "p99, us"
	case kibPerOne:
		return "KiB/" + c.Unit
	case kbPerKey:
		return "MiB; KB/key"
	case startTime:
		return "seconds"
	case addedMS:
		return "p50, ms"
	case perSecond:
		return string(perSecond)
	}
	return "CPU us/" + c.Unit
}

func (c caseReport) value(which role) string {
	f, ok := c.Medians[which]
	if !ok {
		return "-"
	}
	switch c.Metric {
	case addedP50:
		return fmt.Sprintf("%.0f", f.P50-c.Medians[direct].P50)
	case tripP50:
		return fmt.Sprintf("%.1f", f.P50)
	case tripP99:
		return fmt.Sprintf("%.0f", f.P99)
	case kibPerOne:
		return fmt.Sprintf("%.1f", f.Held)
	case kbPerKey:
		return fmt.Sprintf("%.0f", f.Anon)
	case startTime:
		return fmt.Sprintf("%.2f", f.Start)
	case addedMS:
		return fmt.Sprintf("%.2f", f.P50/1000)
	case perSecond:
		return fmt.Sprintf("%.1f", f.PerSecond)
	}
	return fmt.Sprintf("%.1f", f.CPU)
}

func (c caseReport) coarse() bool {
	if c.Metric != cpuPerOp {
		return false
	}
	for which, f := range c.Medians {
		if which != direct && f.Ticks < coarseTicks {
			return true
		}
	}
	return false
}

func writeFigures(b *strings.Builder, cases []caseReport, servers []role) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tserver\tcalls\tCPU us\tp50 us\tp99 us\tcalls/s\tRSS MiB\tpeak MiB")
	for _, c := range cases {
		for _, which := range servers {
			f, ok := c.Medians[which]
			if !ok {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", c.Name, which, f.Calls, f.CPU, f.P50, f.P99, f.PerSecond, f.RSS, f.Peak)
		}
	}
	t.Flush()
}
