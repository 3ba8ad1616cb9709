//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"
)

// peerReport is the result of a run with -peers.
type peerReport struct {
	Started time.Time
	Machine machine
	Options options
	Peers   []peer
	Rounds  map[string][]map[role]figures // by case

	Failures map[string]string // by case and peer
}

// roles are those of a table, in its order.
func (rep *peerReport) roles() []role {
	roles := []role{proxy, gateway}
	for _, p := range rep.Peers {
		roles = append(roles, p.name)
	}
	return roles
}

func (rep *peerReport) writeText(w io.Writer) error {
	m := rep.Machine
	fmt.Fprintf(w, "beside other gateways, %s: %d rounds of %s; %d CPUs, linux %s, caddy built with %s; one upstream, everything on one machine\n",
		rep.Started.Format(time.DateOnly), rep.Options.Rounds, rep.Options.Time, m.CPUs, m.Kernel, m.ServerGo)
	fmt.Fprintf(w, "CPU of all processes of a server for one call, memory of all of them after it (shared pages count once); ratio to %s of the same round, median (min-max)\n\n", proxy)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\tserver\tCPU us\tratio\tmemory MiB\tcalls/s")
	for _, c := range peerCases() {
		for _, which := range rep.roles() {
			var cpu, memory, rate, ratios []float64
			for _, round := range rep.Rounds[c.name] {
				f, measured := round[which]
				if !measured {
					continue
				}
				cpu, memory, rate = append(cpu, f.CPU), append(memory, f.RSS), append(rate, f.PerSecond)
				ratios = append(ratios, ratio(f.CPU, round[proxy].CPU))
			}
			s, measured := spreadOf(ratios)
			if !measured {
				fmt.Fprintf(t, "%s\t%s\t-\t-\t-\t-\n", c.name, which)
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%.0f\t%s\t%.0f\t%.0f\n", c.name, which, middle(cpu), s, middle(memory), middle(rate))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, what := range slices.Sorted(maps.Keys(rep.Failures)) {
		fmt.Fprintf(w, "%s failed: %s\n", what, rep.Failures[what])
	}
	fmt.Fprintf(w, "\n%s: its own defaults; checks a key and its scopes, renames the model, adds the provider's key, counts usage, one record, log line and count a call; limits, budgets and guardrails off\n", gateway)
	for _, p := range rep.Peers {
		if _, err := fmt.Fprintf(w, "%s: %s; %s; %s\n", p.name, p.version, p.settings, p.does); err != nil {
			return err
		}
	}
	return nil
}

func middle(values []float64) float64 {
	s, _ := spreadOf(slices.SortedFunc(slices.Values(values), cmp.Compare))
	return s.Median
}
