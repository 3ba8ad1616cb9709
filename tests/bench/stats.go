//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// minRounds is needed for a verdict: speed goals are judged over five paired rounds.
const minRounds = 5

// goal is a pair of upper bounds for the ratio gateway / reverse_proxy.
type goal struct {
	Bound   float64 `json:"bound"`
	Stretch float64 `json:"stretch"`
}

// String returns both bounds as cells of a table.
func (g goal) String() string {
	if g == (goal{}) {
		return "-\t-"
	}
	return fmt.Sprintf("%.2f\t%.2f", g.Bound, g.Stretch)
}

// spread summarises the paired rounds.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func (s spread) String() string {
	return fmt.Sprintf("%.2f (%.2f-%.2f)", s.Median, s.Min, s.Max)
}

// spreadOf summarises the values that are numbers; ok is false if there are none.
func spreadOf(values []float64) (s spread, ok bool) {
	v := slices.DeleteFunc(slices.Clone(values), notFinite)
	if len(v) == 0 {
		return spread{}, false
	}
	slices.Sort(v)
	mid := len(v) / 2
	median := v[mid]
	if len(v)%2 == 0 {
		median = (v[mid-1] + v[mid]) / 2
	}
	return spread{Median: median, Min: v[0], Max: v[len(v)-1]}, true
}

func notFinite(f float64) bool { return math.IsNaN(f) || math.IsInf(f, 0) }

// verdict judges the median of the paired rounds: the bound must hold, the stretch goal may. A round without a ratio (its base was zero or
// less, as an added latency can be) is no evidence. The verdict says so if there are too few
// rounds.
func verdict(ratios []float64, g goal) string {
	finite := slices.DeleteFunc(slices.Clone(ratios), notFinite)
	s, ok := spreadOf(finite)
	if !ok {
		return "not measured"
	}
	word := "MISSED"
	switch {
	case s.Median < g.Stretch:
		word = "holds, stretch too"
	case s.Median < g.Bound:
		word = "holds"
	}
	if len(finite) < minRounds {
		word += fmt.Sprintf(" (only %d of %d rounds)", len(finite), minRounds)
	}
	return word
}

// percentile returns the nearest-rank percentile of sorted samples, 0 for none.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// ratio divides, and returns NaN if a ratio would mean nothing.
func ratio(of, base float64) float64 {
	if base <= 0 || of < 0 {
		return math.NaN()
	}
	return of / base
}
