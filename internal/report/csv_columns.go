package report

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// unitColumns are those of units in a table of sums.
func unitColumns[T any](sums func(*T) *activity.Sums) (columns []column[T]) {
	for u, name := range activity.UnitNames {
		columns = append(columns, column[T]{name, func(row *T) string { return number(sums(row).Units[u]) }})
	}
	return columns
}

// dayColumns are the columns of group_by=day.
var dayColumns = append([]column[activity.Day]{
	{"date", func(d *activity.Day) string { return d.Date }},
	{"model", func(d *activity.Day) string { return text(d.Model) }},
	{"provider_name", func(d *activity.Day) string { return text(d.Provider) }},
	{"requests", func(d *activity.Day) string { return number(d.Requests) }},
	{"usage", func(d *activity.Day) string { return money(d.CostNano) }},
	{"prompt_tokens", func(d *activity.Day) string { return number(d.PromptTokens) }},
	{"completion_tokens", func(d *activity.Day) string { return number(d.CompletionTokens) }},
	{"reasoning_tokens", func(d *activity.Day) string { return number(d.ReasoningTokens) }},
	{"cached_tokens", func(d *activity.Day) string { return number(d.CachedTokens) }},
}, unitColumns(func(d *activity.Day) *activity.Sums { return &d.Sums })...)

// seriesRow is a point of a series.
type seriesRow struct {
	series string // "series", "other"
	name   string
	point  activity.Point
}

// seriesColumns are the columns of GET /api/v1/activity/series; by names the third.
func seriesColumns(by string) []column[seriesRow] {
	columns := []column[seriesRow]{
		{"at", func(r *seriesRow) string { return timestamp(r.point.Start) }},
		{"series", func(r *seriesRow) string { return r.series }},
		{by, func(r *seriesRow) string { return text(r.name) }},
		{"requests", func(r *seriesRow) string { return number(r.point.Requests) }},
		{"errors", func(r *seriesRow) string { return number(r.point.Errors) }},
		{"unpriced", func(r *seriesRow) string { return number(r.point.Unpriced) }},
		{"cost", func(r *seriesRow) string { return money(r.point.CostNano) }},
		{"prompt_tokens", func(r *seriesRow) string { return number(r.point.PromptTokens) }},
		{"completion_tokens", func(r *seriesRow) string { return number(r.point.CompletionTokens) }},
		{"reasoning_tokens", func(r *seriesRow) string { return number(r.point.ReasoningTokens) }},
		{"cached_tokens", func(r *seriesRow) string { return number(r.point.CachedTokens) }},
	}
	for _, p := range []struct {
		name string
		of   func(*seriesRow) *activity.Percentiles
	}{
		{"duration_ms", func(r *seriesRow) *activity.Percentiles { return &r.point.Duration }},
		{"first_token_ms", func(r *seriesRow) *activity.Percentiles { return &r.point.FirstToken }},
		{"per_token_ms", func(r *seriesRow) *activity.Percentiles { return &r.point.PerToken }},
		{"overhead_ms", func(r *seriesRow) *activity.Percentiles { return &r.point.Overhead }},
	} {
		columns = append(columns,
			column[seriesRow]{p.name + "_p50", func(r *seriesRow) string { return milliseconds(p.of(r).P50) }},
			column[seriesRow]{p.name + "_p95", func(r *seriesRow) string { return milliseconds(p.of(r).P95) }},
			column[seriesRow]{p.name + "_p99", func(r *seriesRow) string { return milliseconds(p.of(r).P99) }},
		)
	}
	return append(columns, unitColumns(func(r *seriesRow) *activity.Sums { return &r.point.Sums })...)
}
