package caddymodule

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newSeriesCommand is `caddy gatehouse series`.
func newSeriesCommand() *cobra.Command {
	o := new(operator)
	var f activityFlags
	var by, step, chart string
	var top int
	var rebuild bool
	cmd := &cobra.Command{
		Use: "series", Short: "Requests, cost, tokens and latencies over time", Args: cobra.NoArgs,
		Long: "Requests, cost, tokens and latencies over time, from hourly sums that are kept longer than the activity's rows.\n" +
			"Times are UTC. Percentiles are of calls that a provider answered, and exact to 6 %.",
		Example: "  caddy gatehouse series --by key --step hour --since 24h\n  caddy gatehouse series --by code --chart errors\n  caddy gatehouse series --by model --from 2026-01-01 --csv > models.csv",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.out = cmd.OutOrStdout()
			if rebuild {
				return rebuildFrom(o)
			}
			if _, ok := chartMetrics[chart]; chart != "" && !ok {
				return fmt.Errorf("--chart %q: want cost, requests, errors, tokens or p95", chart)
			}
			q := f.query()
			q.Set("by", by)
			q.Set("step", step)
			q.Set("top", strconv.Itoa(top))
			return showSeries(o, q, &f, chart)
		},
	}
	o.addFlags(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&by, "by", "model", "model, key, tenant, provider or code")
	cmd.Flags().StringVar(&step, "step", "day", "hour or day")
	cmd.Flags().IntVar(&top, "top", 10, "how many series; the others are added up")
	cmd.Flags().StringVar(&chart, "chart", "", "what the bars show: cost, requests, errors, tokens or p95 (default: cost, or requests if nothing has a cost)")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "make the sums again from the rows that are kept, while calls go on")
	return cmd
}

func rebuildFrom(o *operator) error {
	var answer rebuilt
	if err := o.call(http.MethodPost, rebuildPath, nil, &answer); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.out, "The series were made again from %d rows.\n", answer.Rows)
	return err
}

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

// chartMetrics are what a chart can show of a point: a value, and its text.
var chartMetrics = map[string]struct {
	value func(*pointView) float64
	text  func(*pointView) string
}{
	"cost":     {costOf, costCell},
	"requests": {func(p *pointView) float64 { return float64(p.Requests) }, func(p *pointView) string { return compact(p.Requests) }},
	"errors":   {func(p *pointView) float64 { return float64(p.Errors) }, func(p *pointView) string { return compact(p.Errors) }},
	"tokens": {func(p *pointView) float64 { return float64(p.Prompt + p.Completion) },
		func(p *pointView) string { return compact(p.Prompt + p.Completion) }},
	"p95": {func(p *pointView) float64 { return p95(p.Duration) }, func(p *pointView) string { return duration(p95(p.Duration)) }},
}

func costOf(p *pointView) float64 {
	v, _ := p.Cost.Float64()
	return v
}

// costCell marks a sum that does not have all.
func costCell(p *pointView) string {
	text := strconv.FormatFloat(costOf(p), 'f', 2, 64)
	if v := costOf(p); v > 0 && v < 0.995 {
		text = strconv.FormatFloat(v, 'g', 3, 64)
	}
	if p.Unpriced > 0 {
		text += "+?"
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

func showSeries(o *operator, q url.Values, f *activityFlags, chart string) error {
	if f.asJSON || f.asCSV {
		return copyAnswer(o, seriesPath, q, f.asJSON)
	}
	var v seriesView
	if err := o.call(http.MethodGet, seriesPath+"?"+q.Encode(), nil, &v); err != nil {
		return err
	}
	if chart == "" {
		if chart = "cost"; costOf(&v.Total.Total) == 0 {
			chart = "requests"
		}
	}
	t := terminalOf(o.out)
	layout := time.DateOnly
	if v.Step == "hour" {
		layout = "2006-01-02 15:04"
	}
	fmt.Fprintf(o.out, "By %s, %s to %s UTC, each %s\n\n", v.By, v.From.Format(layout), v.To.Add(-1).Format(layout), v.Step)
	if v.Total.Total.Requests == 0 {
		fmt.Fprintln(o.out, "no calls")
	} else {
		printLines(o.out, &v, t, chart)
		printChart(o.out, &v, t, chart, layout)
	}
	if !v.Complete {
		fmt.Fprintln(o.out, "\nOlder calls are still being added: these sums are too small.")
	}
	return nil
}

// printLines prints a row for each series, with a trend if the terminal is wide enough.
func printLines(out io.Writer, v *seriesView, t terminal, chart string) {
	g := grid{columns: []gridColumn{{name: strings.ToUpper(v.By)}}}
	for _, name := range []string{"REQUESTS", "ERRORS", "USD", "IN", "OUT", "P50", "P95", "FIRST", "TOKEN", "OVERHEAD"} {
		g.columns = append(g.columns, gridColumn{name, true})
	}
	g.columns = append(g.columns, gridColumn{name: "TREND"})
	lines := slices.Clone(v.Data)
	for i := range lines {
		if lines[i].Name == "" {
			lines[i].Name = "(none)"
		}
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
			l.Name, compact(p.Requests), share(p.Errors, p.Requests), costCell(p), compact(p.Prompt), compact(p.Completion), duration(p50(p.Duration)), duration(p95(p.Duration)),
			duration(p50(p.FirstToken)), duration(p50(p.PerToken)), duration(p95(p.Overhead)), t.sparkline(trend(v, l, chart)),
		})
	}
	g.print(out)
}

// share is a part in percent.
func share(part, whole int64) string {
	if part == 0 || whole == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(part)/float64(whole), 'f', 1, 64) + "%"
}

// maxTrend is the length of a trend, in characters.
const maxTrend = 24

// trend is what a series has of a metric in equal parts of the time.
func trend(v *seriesView, l *lineView, chart string) []float64 {
	step := stepOf(v)
	steps := int(v.To.Sub(v.From) / step)
	values := make([]float64, min(steps, maxTrend))
	for i := range l.Points {
		at := int(l.Points[i].At.Sub(v.From)/step) * len(values) / steps
		if value := chartMetrics[chart].value(&l.Points[i]); chart == "p95" {
			values[at] = max(values[at], value)
		} else {
			values[at] += value
		}
	}
	return values
}

// printChart prints a bar for each point of the total.
func printChart(out io.Writer, v *seriesView, t terminal, chart, layout string) {
	metric := chartMetrics[chart]
	most, widest := 0.0, 0
	for i := range v.Total.Points {
		p := &v.Total.Points[i]
		most, widest = max(most, metric.value(p)), max(widest, len(metric.text(p)))
	}
	width := t.width - len(layout) - widest - 4
	title := map[string]string{"cost": "Cost in USD", "requests": "Requests", "errors": "Errors", "tokens": "Tokens in and out", "p95": "95th percentile of the duration"}[chart]
	fmt.Fprintf(out, "\n%s\n", title)
	for i := range v.Total.Points {
		p := &v.Total.Points[i]
		if i > 0 && v.Total.Points[i-1].At.Add(stepOf(v)).Before(p.At) {
			fmt.Fprintln(out, strings.Repeat(" ", len(layout)-1)+":")
		}
		fmt.Fprintf(out, "%s  %*s  %s\n", p.At.UTC().Format(layout), widest, metric.text(p), t.bar(metric.value(p), most, width))
	}
}

func stepOf(v *seriesView) time.Duration {
	if v.Step == "hour" {
		return time.Hour
	}
	return 24 * time.Hour
}
