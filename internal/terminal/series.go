package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// seriesView is the answer of the admin API, as far as a terminal shows it.
type seriesView struct {
	By, Step string
	From, To time.Time
	Complete bool
	Data     []lineView
	Other    *lineView
	Total    lineView
}

type lineView struct {
	Name   string
	Series int
	Total  pointView
	Points []pointView
}

type pointView struct {
	At         time.Time
	Requests   int64
	Errors     int64
	Unpriced   int64
	Cost       json.Number
	Prompt     int64           `json:"prompt_tokens"`
	Completion int64           `json:"completion_tokens"`
	Duration   *percentileView `json:"duration_ms"`
	FirstToken *percentileView `json:"first_token_ms"`
	PerToken   *percentileView `json:"per_token_ms"`
	Overhead   *percentileView `json:"overhead_ms"`
}

type percentileView struct{ P50, P95, P99 float64 }

// metrics are what can be shown of each point, by the name of the flag.
var metrics = map[string]struct {
	title string
	text  func(*pointView) string
}{
	"cost":     {"Cost in USD", costCell},
	"requests": {"Requests", func(p *pointView) string { return compact(p.Requests) }},
	"errors":   {"Errors", func(p *pointView) string { return compact(p.Errors) }},
	"tokens":   {"Tokens in and out", func(p *pointView) string { return compact(p.Prompt + p.Completion) }},
	"p95":      {"95th percentile of the duration", func(p *pointView) string { return Duration(p95(p.Duration)) }},
}

func costOf(p *pointView) float64 {
	v, _ := p.Cost.Float64()
	return v
}

// costCell marks a sum in which calls without a known price are missing.
func costCell(p *pointView) string {
	cost := costOf(p)
	if cost == 0 && p.Unpriced > 0 {
		return "unknown"
	}
	text := strconv.FormatFloat(cost, 'f', 4, 64)
	if p.Unpriced > 0 {
		text = ">" + text
	}
	return text
}

func p95(p *percentileView) float64 {
	if p == nil {
		return 0
	}
	return p.P95
}

func p50(p *percentileView) float64 {
	if p == nil {
		return 0
	}
	return p.P50
}

// Metrics are what [Series] can show of each point, by their names.
func Metrics() []string { return slices.Sorted(maps.Keys(metrics)) }

// Series prints an answer of the series: a row for each, and one for each point of the total. Chart is
// what is shown of a point; "" is cost, or requests if nothing has a cost.
func Series(out io.Writer, answer io.Reader, chart string) error {
	var v seriesView
	if err := json.NewDecoder(answer).Decode(&v); err != nil {
		return fmt.Errorf("reading the series: %w", err)
	}
	if chart == "" {
		if chart = "cost"; costOf(&v.Total.Total) == 0 {
			chart = "requests"
		}
	}
	layout := time.DateOnly
	if v.Step != "day" {
		layout = "2006-01-02 15:04"
	}
	fmt.Fprintf(out, "By %s, %s to %s UTC, each %s\n\n", v.By, v.From.Format(layout), v.To.Add(-1).Format(layout), v.Step)
	if v.Total.Total.Requests == 0 {
		fmt.Fprintln(out, "No calls.")
	} else {
		printLines(out, &v)
		printPoints(out, &v, chart, layout)
	}
	if p := &v.Total.Total; p.Unpriced > 0 {
		fmt.Fprintf(out, "\nCalls without a known price, which USD leaves out: %d\n", p.Unpriced)
	}
	if !v.Complete {
		fmt.Fprintln(out, "\nOlder calls are still being added: these sums are too small.")
	}
	return nil
}

// printLines prints a row for each series.
func printLines(out io.Writer, v *seriesView) {
	g := grid{columns: []gridColumn{{name: strings.ToUpper(v.By)}}}
	for _, c := range []struct {
		name string
		drop int
	}{{"REQUESTS", 0}, {"ERRORS", 0}, {"USD", 0}, {"IN", 5}, {"OUT", 5}, {"P50", 4}, {"P95", 0}, {"FIRST", 3}, {"PER TOKEN", 2}, {"OVERHEAD", 1}} {
		g.columns = append(g.columns, gridColumn{c.name, true, c.drop})
	}
	lines := slices.Clone(v.Data)
	for i := range lines {
		if lines[i].Name == "" {
			lines[i].Name = unnamed(v.By)
		}
		lines[i].Name = KeyName(lines[i].Name)
	}
	if v.Other != nil {
		v.Other.Name = fmt.Sprintf("(%d others)", v.Other.Series)
		lines = append(lines, *v.Other)
	}
	if len(lines) > 1 {
		v.Total.Name = "total"
		lines = append(lines, v.Total)
	}
	for i := range lines {
		l := &lines[i]
		p := &l.Total
		g.rows = append(g.rows, []string{
			l.Name, compact(p.Requests), share(p.Errors, p.Requests), costCell(p), compact(p.Prompt), compact(p.Completion), Duration(p50(p.Duration)), Duration(p95(p.Duration)),
			Duration(p50(p.FirstToken)), Duration(p50(p.PerToken)), Duration(p95(p.Overhead)),
		})
	}
	g.print(out, roomOf(out))
}

// unnamed is what calls without a name are.
func unnamed(by string) string {
	if by == "code" {
		return "(ok)"
	}
	return "(no provider)"
}

// share is a part in percent.
func share(part, whole int64) string {
	if part == 0 || whole == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + "%"
}

// printPoints prints a metric of each point of the total.
func printPoints(out io.Writer, v *seriesView, chart, layout string) {
	metric, widest := metrics[chart], 0
	for i := range v.Total.Points {
		widest = max(widest, len(metric.text(&v.Total.Points[i])))
	}
	fmt.Fprintf(out, "\n%s\n", metric.title)
	for i := range v.Total.Points {
		p := &v.Total.Points[i]
		if i > 0 && v.Total.Points[i-1].At.Add(stepOf(v)).Before(p.At) {
			fmt.Fprintln(out, strings.Repeat(" ", len(layout)-1)+":")
		}
		fmt.Fprintf(out, "%s  %*s\n", p.At.UTC().Format(layout), widest, metric.text(p))
	}
}

func stepOf(v *seriesView) time.Duration {
	if v.Step != "day" {
		return time.Hour
	}
	return 24 * time.Hour
}
