package chart

import (
	"flag"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files as they are")

// evening is the start of most charts.
var evening = time.Date(2026, 11, 22, 21, 0, 0, 0, time.UTC)

func frame(unit Unit, step time.Duration) Frame {
	return Frame{ID: "c", Title: "Cost by model", Desc: "Cost of each hour.", Unit: unit, From: evening, Step: step}
}

func TestGolden(t *testing.T) {
	gap := math.NaN()
	three := []Series{
		{Name: "acme/large", Values: []float64{0.5, 0, 1.25, 0.75}},
		{Name: "acme/small", Values: []float64{0.25, 0, 0, 0.25}},
		{Name: "3 others", Values: []float64{0, 0, 0.125}, Other: true},
	}
	for name, svg := range map[string]template.HTML{
		"stack": Stack{frame(USD, time.Hour), three}.SVG(),
		"lines": Lines{Frame: frame(Milliseconds, time.Hour), Counts: []int64{2, 0, 5, 0, 1}, Series: []Series{
			{Name: "p50", Values: []float64{110, 150, gap, 140, gap}}, {Name: "p95", Values: []float64{900, 1100, gap, 1400, gap}},
		}}.SVG(),
		"strip":     Strip{frame(Count, time.Hour), []float64{120, 0, 40}, []float64{1, 0, 40}}.SVG(),
		"sparkline": Sparkline{ID: "s", Title: "Requests", Values: []float64{1, 4, gap, 2, gap, 3, 2}}.SVG(),
		"phases": Phases{"p", "Phases", []Phase{
			{"queue", "s3", 20, "20 ms"}, {"to first token", "s1", 180, "180 ms"}, {"other", "s4", 0, "0"}, {"stream", "s2", 600, "600 ms"},
		}}.SVG(),
	} {
		t.Run(name, func(t *testing.T) {
			checkGolden(t, filepath.Join("testdata", name+".svg"), string(svg))
		})
	}
}

// checkGolden compares a chart with a file, in which each element has a line.
func checkGolden(t *testing.T, file, svg string) {
	t.Helper()
	parse(t, template.HTML(svg))
	got := strings.ReplaceAll(svg, "><", ">\n<") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s differs (%v). After a change that is meant, run the test with -update. Got:\n%s", file, err, got)
	}
}
