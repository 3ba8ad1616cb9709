//go:build linux

package main

import (
	"debug/buildinfo"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is the result of a run; its JSON has every round.
type report struct {
	Started time.Time    `json:"started"`
	Machine machine      `json:"machine"`
	Options options      `json:"options"`
	Cases   []caseReport `json:"cases"`
	Proof   *proof       `json:"proof,omitempty"` // nil for a self-check
	More    []section    `json:"more,omitempty"`  // VNC and the suites
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
	Ratio   *spread          `json:"ratio"` // gateway (or gateway-on) / reverse_proxy, null if there is none
	Verdict string           `json:"verdict"`
	Medians map[role]figures `json:"medians"`
	ToOff   *spread          `json:"ratio_to_off,omitempty"` // with duties only: gateway-on / gateway
	Duties  string           `json:"duties,omitempty"`       // that are on at gateway-on
	Rounds  []round          `json:"rounds"`
	Error   string           `json:"error,omitempty"`

	of string // see row
}

// coarseTicks is the number of clock ticks below which a CPU figure is mostly rounding.
const coarseTicks = 30

// reachedRate is the part of a fixed rate that counts as having kept up.
const reachedRate = 0.95

func (r *runner) report() *report {
	rep := &report{Started: r.started, Machine: thisMachine(r.opts.Caddy), Options: r.opts}
	for i := range r.suites {
		s := &r.suites[i]
		if s.name != modelCalls {
			rep.More = append(rep.More, r.section(s))
			continue
		}
		rep.Proof = &r.proof
		for _, w := range s.rows {
			rep.Cases = append(rep.Cases, r.dutyReport(w))
		}
	}
	return rep
}

// caseReport sums up the rounds of a row.
func (r *runner) caseReport(w row, servers []role) caseReport {
	name, g := w.name, w.goal
	rounds := r.rounds[name]
	cr := caseReport{Name: name, Unit: w.unit, Metric: w.metric, Goal: g, Rounds: rounds, Medians: medians(rounds, servers), of: w.of}
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
	cr.Verdict = verdict(ratios, g)
	if g == (goal{}) {
		cr.Verdict = "no goal"
	}
	if err := r.failures[name]; err != nil {
		cr.Verdict, cr.Error = "FAILED", err.Error()
	}
	return cr
}

// dutyReport is the report of a row of model calls, with a second ratio if its case has duties on.
func (r *runner) dutyReport(w row) caseReport {
	cr, duties := r.caseReport(w, modelServers), caseOf(w).duties
	if duties == 0 {
		return cr
	}
	cr.Duties = duties.String()
	var toOff []float64
	for _, one := range cr.Rounds {
		if one.ToOff != nil {
			toOff = append(toOff, *one.ToOff)
		}
	}
	if s, ok := spreadOf(toOff); ok {
		cr.ToOff = &s
	}
	return cr
}

// medians takes the median of each figure by itself.
func medians(rounds []round, servers []role) map[role]figures {
	out := map[role]figures{}
	for _, which := range servers {
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
			Anon:      of(func(f figures) float64 { return f.Anon }),
			Start:     of(func(f figures) float64 { return f.Start }),
		}
		if f.Calls > 0 {
			out[which] = f
		}
	}
	return out
}

// measured reports whether there is anything to report.
func (rep *report) measured() bool {
	for _, c := range rep.all() {
		if len(c.Rounds) > 0 || c.Error != "" {
			return true
		}
	}
	return false
}

func (rep *report) failed() bool {
	for _, c := range rep.all() {
		if c.Error != "" {
			return true
		}
	}
	return false
}

// all returns the cases of all kinds.
func (rep *report) all() []caseReport {
	all := slices.Clone(rep.Cases)
	for _, more := range rep.More {
		all = append(all, more.Cases...)
	}
	return all
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
