//go:build linux

package main

import (
	"math"
	"testing"
	"time"
)

func TestSpreadIsMedianMinMaxOfTheNumbers(t *testing.T) {
	tests := []struct {
		name   string
		values []float64
		want   spread
		ok     bool
	}{
		{"odd", []float64{3, 1, 2}, spread{2, 1, 3}, true},
		{"even", []float64{4, 1, 2, 3}, spread{2.5, 1, 4}, true},
		{"one", []float64{7}, spread{7, 7, 7}, true},
		{"not a number is left out", []float64{math.NaN(), 2, math.Inf(1), 4, 6}, spread{4, 2, 6}, true},
		{"none", nil, spread{}, false},
		{"none that is a number", []float64{math.NaN()}, spread{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := spreadOf(tt.values)
			if got != tt.want || ok != tt.ok {
				t.Errorf("spreadOf(%v) = %v, %v; want %v, %v", tt.values, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestSpreadLeavesItsValuesInOrder(t *testing.T) {
	values := []float64{3, math.NaN(), 1}
	spreadOf(values)
	if values[0] != 3 || values[2] != 1 {
		t.Errorf("the rounds were reordered: %v", values)
	}
}

func TestVerdictIsByTheMedian(t *testing.T) {
	g := goal{Bound: 0.80, Stretch: 0.60}
	tests := []struct {
		name   string
		ratios []float64
		want   string
	}{
		{"under the bound", []float64{0.7, 0.7, 0.7, 0.7, 0.7}, "holds"},
		{"under the stretch", []float64{0.5, 0.5, 0.5, 0.5, 0.65}, "holds, stretch too"},
		{"two rounds over the stretch", []float64{0.5, 0.5, 0.5, 0.75, 0.75}, "holds, stretch too"},
		{"two rounds over the bound", []float64{0.7, 0.7, 0.7, 0.9, 0.95}, "holds"},
		{"median on the bound", []float64{0.7, 0.7, 0.80, 0.81, 0.82}, "MISSED"},
		{"median over the bound", []float64{0.7, 0.7, 0.85, 0.86, 0.87}, "MISSED"},
		{"few rounds", []float64{0.7, 0.7, 0.7}, "holds (only 3 of 5 rounds)"},
		{"rounds without a ratio are no rounds", []float64{0.7, 0.7, 0.7, 0.7, math.NaN()}, "holds (only 4 of 5 rounds)"},
		{"nothing", []float64{math.NaN()}, "not measured"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := verdict(tt.ratios, g); got != tt.want {
				t.Errorf("verdict(%v) = %q, want %q", tt.ratios, got, tt.want)
			}
		})
	}
}

func TestPercentileIsTheNearestRank(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	tests := []struct {
		sorted []time.Duration
		p      float64
		want   time.Duration
	}{
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
		{hundred[:1], 99, 1},
		{hundred[:2], 50, 1},
		{hundred[:3], 50, 2},
		{nil, 50, 0},
	}
	for _, tt := range tests {
		if got := percentile(tt.sorted, tt.p); got != tt.want {
			t.Errorf("percentile(%d samples, %v) = %d, want %d", len(tt.sorted), tt.p, got, tt.want)
		}
	}
}

func TestRatioWithoutABaseIsNoNumber(t *testing.T) {
	if got := ratio(3, 4); got != 0.75 {
		t.Errorf("ratio(3, 4) = %v", got)
	}
	for _, pair := range [][2]float64{{1, 0}, {1, -5}, {-1, 5}} {
		if got := ratio(pair[0], pair[1]); !math.IsNaN(got) {
			t.Errorf("ratio(%v, %v) = %v, want NaN", pair[0], pair[1], got)
		}
	}
}
