package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// The heights of the bars of a series are its values, and those of a step are their sum: rounding
// does not add up.
func TestHeightsAreTheValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps, most := 1+random.IntN(60), 1+random.IntN(190)
		series := make([]Series, 1+random.IntN(12))
		for i := range series {
			series[i].Name = fmt.Sprint("series ", i)
			for range random.IntN(steps + 1) {
				series[i].Values = append(series[i].Values, float64(random.IntN(most)))
			}
		}
		chart := parse(t, Stack{frame(Count, time.Hour), series}.SVG())
		top := topOf(t, chart)
		shown := map[int]int{}
		for place, path := range chart.all("path") {
			for step, h := range heights(t, path.attr("d")) {
				shown[step] += h
				if place < MaxSeries && math.Abs(float64(h)-plotHeight*series[place].Values[step]/top) > 1 {
					t.Fatalf("%v of %v has the height %d", series[place].Values[step], top, h)
				}
			}
		}
		for step := range steps {
			if math.Abs(float64(shown[step])-plotHeight*sum(series, step)/top) > 0.6 {
				t.Fatalf("the bar of %v of %v has the height %d", sum(series, step), top, shown[step])
			}
		}
	}
}

func TestHostileNamesAreText(t *testing.T) {
	evil := []string{`<img src=x onerror=alert(1)>`, `"'><script>`, "]]>&amp;", "\u202egnp.exe\x00\x1b[31m\ufffe", "\xff\xfe", strings.Repeat("very long ", 40), "two\nlines"}
	for _, text := range evil {
		f := frame(Count, time.Hour)
		f.ID, f.Title, f.Desc, f.Text = text, text, text, func(float64) string { return text }
		series := []Series{{Name: text, Class: text, Values: []float64{1, 2}}}
		for _, svg := range []string{
			string(Stack{f, series}.SVG()), string(Lines{Frame: f, Series: series}.SVG()), string(Strip{f, []float64{1, 2}, []float64{1}}.SVG()),
			string(Sparkline{text, text, []float64{1, 2}, text}.SVG()), string(Phases{text, text, []Phase{{text, text, 5, text}}}.SVG()),
		} {
			if strings.Contains(svg, "<img") || strings.Contains(svg, "<script") {
				t.Errorf("%q is markup in %s", text, svg)
			}
		}
		parse(t, Stack{f, series}.SVG())
	}
	tip := parse(t, Stack{frame(Count, time.Hour), []Series{{Name: evil[5], Values: []float64{1}}}}.SVG()).all("rect")[0].Children[0].Text
	if len([]rune(tip)) > 120 || !strings.Contains(tip, "long…\u2069: 1") {
		t.Errorf("a long name is not cut, or not isolated: %q", tip)
	}
}

// Nothing, one value, huge ones and what is no number give a chart without figures that are none.
func TestAnyValuesMakeAChart(t *testing.T) {
	huge := []float64{math.MaxFloat64, 1, 0}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -5, 7}
	for name, values := range map[string][]float64{"none": nil, "one": {1}, "zero": {0, 0}, "huge": huge, "tiny": {1e-300, 1e-12}, "odd": odd} {
		for _, unit := range []Unit{Count, USD, Milliseconds, Rate} {
			series := []Series{{Name: name, Values: values}, {Values: values}}
			parse(t, Stack{frame(unit, time.Hour), series}.SVG())
			parse(t, Lines{Frame: frame(unit, 24*time.Hour), Series: series}.SVG())
			parse(t, Strip{frame(unit, time.Hour), values, values}.SVG())
			parse(t, Sparkline{"s", name, values, ""}.SVG())
			parse(t, Phases{"p", name, []Phase{{"a", "s1", 0, ""}, {"b", "s2", math.NaN(), ""}}}.SVG())
		}
	}
	chart := parse(t, Stack{frame(Count, time.Hour), []Series{{Values: odd}}}.SVG())
	if got := heights(t, chart.all("path")[0].attr("d")); len(got) != 1 || got[4] == 0 {
		t.Errorf("bars of what is no number: %v", got)
	}
}

func TestAChartIsBounded(t *testing.T) {
	series := make([]Series, 40)
	for i := range series {
		series[i] = Series{Name: "s", Values: make([]float64, 5000)}
		series[i].Values[4999] = 1
	}
	chart := parse(t, Stack{frame(Count, time.Hour), series}.SVG())
	paths, tips := chart.all("path"), chart.all("rect")
	if len(paths) != MaxSeries+1 || len(tips) != MaxPoints {
		t.Fatalf("%d series, %d steps", len(paths), len(tips))
	}
	last := tips[MaxPoints-1].Children[0].Text
	if want := evening.Add(4999 * time.Hour).Format("Mon 2 Jan 2006, 15:04"); !strings.HasPrefix(last, want) || !strings.Contains(last, "\u2068Other\u2069: 32\n") {
		t.Errorf("the last step is %q, want %s with the others", last, want)
	}
	if got := heights(t, paths[MaxSeries].attr("d"))[MaxPoints-1]; got != plotHeight*32/40 {
		t.Errorf("the others have the height %d", got)
	}
	if l := parse(t, Lines{Frame: frame(Count, time.Hour), Series: series, Counts: make([]int64, 5000)}.SVG()); len(l.all("path")) != 2*MaxSeries-MaxSeries {
		t.Errorf("%d lines", len(l.all("path")))
	}
}

// A step without a value interrupts the line: nobody was slow or fast then.
func TestALineHasGaps(t *testing.T) {
	gap := math.NaN()
	chart := parse(t, Lines{Frame: frame(Count, time.Hour), Series: []Series{{Name: "p50", Values: []float64{10, 10, gap, 10, gap, 10, 10}}}}.SVG())
	paths := chart.all("path")
	if got, want := paths[0].attr("d"), "M50 0L150 0M550 0L650 0"; got != want {
		t.Errorf("the line is %q, want %q", got, want)
	}
	if got, want := paths[1].attr("d"), "M350 0h0"; got != want {
		t.Errorf("the dot is %q, want %q", got, want)
	}
	if tip := chart.all("rect")[2].Children[0].Text; !strings.Contains(tip, "no calls") {
		t.Errorf("the gap says %q", tip)
	}
}

// One failed call of a million is seen.
func TestAStripShowsASingleError(t *testing.T) {
	chart := parse(t, Strip{frame(Count, time.Hour), []float64{1e6, 1e6}, []float64{1, 0}}.SVG())
	paths := chart.all("path")
	if h := heights(t, paths[0].attr("d")); h[0] != leastError || h[1] != 0 {
		t.Errorf("errors have the heights %v", h)
	}
	if h := heights(t, paths[1].attr("d")); h[0]+leastError != h[1] {
		t.Errorf("requests have the heights %v", h)
	}
}
