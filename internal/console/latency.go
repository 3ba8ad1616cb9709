package console

import (
	"html/template"
	"math"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/chart"
)

// latencyTop is how many rows the table has.
const latencyTop = 20

// latencyKind is one of the times of a call.
type latencyKind struct {
	ID, Name, Means string
	unit            chart.Unit
	text            func(float64) string // in a tooltip
	figure          func(float64) string // below the name of the kind
	of              func(*seriesPoint) *percentiles
	value           func(float64) float64 // of the milliseconds of the route
	lines           [3]string
}

func same(ms float64) float64 { return ms }

// perSecond is how many tokens a second are one in so many milliseconds.
func perSecond(ms float64) float64 {
	if ms <= 0 {
		return gap
	}
	return 1000 / ms
}

func tokensPerSecond(v float64) string { return decimal(v) + " tokens/s" }

// decimal has two digits after the point for what is less than one, and none from a thousand on.
func decimal(v float64) string {
	switch {
	case v < 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v >= 1000:
		return count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// took is a duration in figures that can be compared, also from a minute on.
func took(ms float64) string {
	if ms < 60_000 {
		return milliseconds(ms)
	}
	return chart.Milliseconds.Tick(ms)
}

var ranked = [3]string{"p50", "p95", "p99"}

var latencyKinds = []latencyKind{
	{"duration", "Duration", "From the request to the last byte of the answer.", chart.Milliseconds, took, took,
		func(p *seriesPoint) *percentiles { return p.Duration }, same, ranked},
	{"first", "Time to first token", "From the request to the first token of a stream.", chart.Milliseconds, took, took,
		func(p *seriesPoint) *percentiles { return p.FirstToken }, same, ranked},
	{"speed", "Tokens per second", "Of streams, from the first token on. The slowest calls are the lowest line.", chart.Rate, tokensPerSecond, decimal,
		func(p *seriesPoint) *percentiles { return p.PerToken }, perSecond, [3]string{"median", "slowest 5 %", "slowest 1 %"}},
	{"overhead", "Gateway overhead", "What the gateway adds: without the provider, the client and the queue.", chart.Milliseconds, took, took,
		func(p *seriesPoint) *percentiles { return p.Overhead }, same, ranked},
}

// latencyPage is what its template shows.
type latencyPage struct {
	sumsPage
	Groups   []option
	By       string
	Error    string // of the percentiles
	Charts   []latencyChart
	Rows     []latencyRow
	More     int
	Measured bool // some call has a duration
}

type latencyChart struct {
	*latencyKind
	SVG   template.HTML
	Lines [3]latencyLine
	Count int64
}

// latencyLine is an entry of a legend.
type latencyLine struct{ Class, Name, Whole string }

// latencyRow is a row of the table: the times of the calls of a series.
type latencyRow struct {
	Name, Href                       string
	Duration, First, Speed, Overhead []string
	Calls                            int64
}

// latency shows how long calls took.
func latency(v *visit) error {
	s := spanOf(v)
	by := v.query.Get("by")
	if by != "provider" && by != "key" {
		by = "model"
	}
	sums, err := readSums(v, &s, by, latencyTop)
	if err != nil {
		return err
	}
	p := latencyPage{sumsPage: sums, By: by, Error: percent(sums.Answer.PercentileError, 1), Measured: sums.Answer.Total.Total.Duration != nil}
	if p.Groups, err = choices(v.r.URL.RequestURI(), "by", by, "model", "Model", "provider", "Provider", "key", "Key"); err != nil {
		return err
	}
	for i := range latencyKinds {
		p.Charts = append(p.Charts, latencyKinds[i].chart(p.Answer))
	}
	return v.render("latency", p.rows(v, v.r.URL.RequestURI()))
}

// chart draws the percentiles of all calls over time.
func (k *latencyKind) chart(a *seriesAnswer) latencyChart {
	made := latencyChart{latencyKind: k}
	series := make([]chart.Series, len(k.lines))
	for i, name := range k.lines {
		series[i] = chart.Series{Name: name, Values: a.values(&a.Total, gap, func(p *seriesPoint) float64 { return k.percentile(p, i) })}
		made.Lines[i] = latencyLine{chart.Class(i), name, unknown}
		if v := k.percentile(&a.Total.Total, i); !math.IsNaN(v) {
			made.Lines[i].Whole = k.figure(v)
		}
	}
	counts := make([]int64, a.steps())
	for i, n := range a.sums(&a.Total, func(p *seriesPoint) float64 {
		if of := k.of(p); of != nil {
			return float64(of.Count)
		}
		return 0
	}) {
		counts[i] = int64(n)
	}
	if of := k.of(&a.Total.Total); of != nil {
		made.Count = of.Count
	}
	frame := a.frame("latency-"+k.ID, k.Name, k.Means+" Of each "+a.Step+".")
	frame.Unit, frame.Text = k.unit, k.text
	made.SVG = chart.Lines{Frame: frame, Series: series, Counts: counts}.SVG()
	return made
}

// percentile is p50, p95 or p99 of a point, or a gap.
func (k *latencyKind) percentile(p *seriesPoint, which int) float64 {
	of := k.of(p)
	if of == nil {
		return gap
	}
	return k.value([3]float64{of.P50, of.P95, of.P99}[which])
}

// rows makes the table. Series of which no call was measured, such as refusals, have no row.
func (p *latencyPage) rows(v *visit, path string) *latencyPage {
	for i := range p.Answer.Data {
		line := &p.Answer.Data[i]
		if line.Total.Duration == nil {
			continue
		}
		row := latencyRow{Name: seriesName(v, p.By, line.Name), Calls: line.Total.Duration.Count}
		if p.By != "model" && line.Name != "" {
			row.Href, _ = query(path, p.By, line.Name, "by", "model") // the path was parsed before
		}
		if p.By == "model" {
			row.Href, _ = query(path, p.By, line.Name, "by", "key")
		}
		for n, cells := range []*[]string{&row.Duration, &row.First, &row.Speed, &row.Overhead} {
			k := &latencyKinds[n]
			for which := range k.lines {
				text := unknown
				if v := k.percentile(&line.Total, which); !math.IsNaN(v) {
					text = k.figure(v)
				}
				*cells = append(*cells, text)
			}
		}
		p.Rows = append(p.Rows, row)
	}
	if p.Answer.Other != nil {
		p.More = p.Answer.Other.Series
	}
	return p
}
