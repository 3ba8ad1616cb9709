//go:build linux

package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what a run found; its JSON holds every round.
type report struct {
	Started time.Time    `json:"started"`
	Machine machine      `json:"machine"`
	Options options      `json:"options"`
	Cases   []caseReport `json:"cases"`
	Proof   *proof       `json:"proof,omitempty"` // nil for a self-check
}

// machine is where it ran.
type machine struct {
	CPUs     int    `json:"cpus"`
	Kernel   string `json:"kernel"`
	Go       string `json:"go"`        // of this program and the upstream
	ServerGo string `json:"server_go"` // of the Caddy binary
	TickMS   int64  `json:"tick_ms"`
}

// caseReport is one case over all rounds.
type caseReport struct {
	Name    string           `json:"name"`
	Unit    string           `json:"unit"`
	Metric  metric           `json:"metric"`
	Goal    goal             `json:"goal"`
	Ratio   *spread          `json:"ratio"` // gateway / reverse_proxy, null if there is none
	Verdict string           `json:"verdict"`
	Medians map[role]figures `json:"medians"`
	Rounds  []round          `json:"rounds"`
	Error   string           `json:"error,omitempty"`
}

// coarseTicks is the number of clock ticks under which a CPU figure is more
// rounding than measurement.
const coarseTicks = 30

// reachedRate is the part of a fixed rate that counts as having kept up.
const reachedRate = 0.95

func (r *runner) report() *report {
	rep := &report{Started: r.started, Machine: thisMachine(r.opts.Caddy), Options: r.opts}
	for _, c := range r.cases {
		rounds := r.rounds[c.name]
		cr := caseReport{Name: c.name, Unit: c.unit, Metric: c.metric, Goal: c.goal, Rounds: rounds, Medians: medians(rounds)}
		ratios := make([]float64, 0, len(rounds))
		for _, one := range rounds {
			if one.Ratio == nil {
				ratios = append(ratios, math.NaN())
				continue
			}
			ratios = append(ratios, *one.Ratio)
		}
		if s, ok := spreadOf(ratios); ok {
			cr.Ratio = &s
		}
		cr.Verdict = verdict(ratios, c.goal)
		if r.opts.Self && cr.Ratio != nil {
			cr.Verdict = fmt.Sprintf("%+.0f %% off", 100*(cr.Ratio.Median-1))
		}
		if err := r.failures[c.name]; err != nil {
			cr.Verdict, cr.Error = "FAILED", err.Error()
		}
		rep.Cases = append(rep.Cases, cr)
	}
	if !r.opts.Self {
		rep.Proof = &r.proof
	}
	return rep
}

// medians takes the median of each figure by itself.
func medians(rounds []round) map[role]figures {
	out := map[role]figures{}
	for _, which := range []role{direct, proxy, gateway} {
		of := func(value func(figures) float64) float64 {
			var values []float64
			for _, one := range rounds {
				if f, ok := one.Figures[which]; ok {
					values = append(values, value(f))
				}
			}
			s, _ := spreadOf(values)
			return s.Median
		}
		f := figures{
			Calls:     int(of(func(f figures) float64 { return float64(f.Calls) })),
			CPU:       of(func(f figures) float64 { return f.CPU }),
			Ticks:     int(of(func(f figures) float64 { return float64(f.Ticks) })),
			P50:       of(func(f figures) float64 { return f.P50 }),
			P99:       of(func(f figures) float64 { return f.P99 }),
			PerSecond: of(func(f figures) float64 { return f.PerSecond }),
			RSS:       of(func(f figures) float64 { return f.RSS }),
			Peak:      of(func(f figures) float64 { return f.Peak }),
			Held:      of(func(f figures) float64 { return f.Held }),
		}
		if f.Calls > 0 {
			out[which] = f
		}
	}
	return out
}

// measured says whether there is anything to report.
func (rep *report) measured() bool {
	for _, c := range rep.Cases {
		if len(c.Rounds) > 0 || c.Error != "" {
			return true
		}
	}
	return false
}

func (rep *report) failed() bool {
	for _, c := range rep.Cases {
		if c.Error != "" {
			return true
		}
	}
	return false
}

// writeText writes the report for people: goals first, then what lies under them.
func (rep *report) writeText(w io.Writer) error {
	var b strings.Builder
	rep.writeHead(&b)
	rep.writeGoals(&b)
	rep.writeFigures(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (rep *report) writeHead(b *strings.Builder) {
	o, m := rep.Options, rep.Machine
	third := "gateway"
	if o.Self {
		third = "a second reverse_proxy in the gateway's place (self-check: every ratio should be 1.00)"
	}
	prompts := "plain prose"
	if o.Hard {
		prompts = fmt.Sprintf("an escaped quote every %d bytes", quoteEvery)
	}
	fmt.Fprintf(b, "bench %s: direct, reverse_proxy, %s; %d rounds of %s a measurement\n", rep.Started.Format("2006-01-02 15:04"), third, o.Rounds, o.Time)
	fmt.Fprintf(b, "machine: %d CPUs, linux %s, %s, caddy built with %s; clock tick %d ms\n", m.CPUs, m.Kernel, m.Go, m.ServerGo, m.TickMS)
	fmt.Fprintf(b, "servers: GOMAXPROCS=%d GOGC=%s GOMEMLIMIT=%s; client and servers share the machine; prompts: %s\n", o.GOMAXPROCS, o.GOGC, o.MemLimit, prompts)
	fmt.Fprintf(b, "reverse_proxy: no access log, %d idle upstream connections like the gateway; for wrong-key a header matcher and the access log\n", upstreamIdle)
	if rep.Proof != nil {
		for _, line := range rep.Proof.lines() {
			fmt.Fprintln(b, line)
		}
	}
}

func (rep *report) writeGoals(b *strings.Builder) {
	fmt.Fprintf(b, "\nratio = gateway / reverse_proxy of the same round, median (min-max); a bound holds when the median is under it and the worst round under it + 15 %%\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tgoal for\tdirect\treverse_proxy\tgateway\tratio\tbound\tstretch\tverdict")
	for _, c := range rep.Cases {
		ratio := "-"
		if c.Ratio != nil {
			ratio = c.Ratio.String()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%s\n", c.Name, c.subject(),
			c.value(direct), c.value(proxy), c.value(gateway), ratio, c.Goal.Bound, c.Goal.Stretch, c.Verdict)
	}
	t.Flush()
	for _, c := range rep.Cases {
		if c.Error != "" {
			fmt.Fprintf(b, "%s failed: %s\n", c.Name, c.Error)
		}
		if c.coarse() {
			fmt.Fprintf(b, "%s: CPU rests on fewer than %d clock ticks, take a longer -time\n", c.Name, coarseTicks)
		}
		for _, which := range []role{direct, proxy, gateway} {
			if f, ok := c.Medians[which]; ok && c.Metric == addedP50 && f.PerSecond < reachedRate*float64(rep.Options.Rate) {
				fmt.Fprintf(b, "%s: %s reached %.0f of %d calls/s, so its latency is that of a queue\n", c.Name, which, f.PerSecond, rep.Options.Rate)
			}
		}
	}
}

// subject names what the ratio of a case compares, with its unit.
func (c caseReport) subject() string {
	switch c.Metric {
	case addedP50:
		return "p50 over direct, us"
	case kibPerOne:
		return "KiB/" + c.Unit
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
	case kibPerOne:
		return fmt.Sprintf("%.1f", f.Held)
	}
	return fmt.Sprintf("%.1f", f.CPU)
}

func (c caseReport) coarse() bool {
	if c.Metric != cpuPerOp {
		return false
	}
	for _, which := range []role{proxy, gateway} {
		if f, ok := c.Medians[which]; ok && f.Ticks < coarseTicks {
			return true
		}
	}
	return false
}

func (rep *report) writeFigures(b *strings.Builder) {
	fmt.Fprintf(b, "\nmedians of the rounds; for paced streams the latency is that of the first event\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tserver\tcalls\tCPU us\tp50 us\tp99 us\tcalls/s\tRSS MiB\tpeak MiB")
	for _, c := range rep.Cases {
		for _, which := range []role{direct, proxy, gateway} {
			f, ok := c.Medians[which]
			if !ok {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", c.Name, which, f.Calls, f.CPU, f.P50, f.P99, f.PerSecond, f.RSS, f.Peak)
		}
	}
	t.Flush()
}

func thisMachine(caddy string) machine {
	m := machine{CPUs: runtime.NumCPU(), Go: runtime.Version(), Kernel: "unknown", ServerGo: "unknown", TickMS: tickLength().Milliseconds()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	if info, err := buildinfo.ReadFile(caddy); err == nil {
		m.ServerGo = info.GoVersion
	}
	return m
}
