package report

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// dayColumns are those of group_by=day.
var dayColumns = []column[activity.Day]{
	{"date", func(d *activity.Day) string { return d.Date }},
	{"model", func(d *activity.Day) string { return text(d.Model) }},
	{"provider_name", func(d *activity.Day) string { return text(d.Provider) }},
	{"requests", func(d *activity.Day) string { return number(d.Requests) }},
	{"usage", func(d *activity.Day) string { return money(d.CostNano) }},
	{"prompt_tokens", func(d *activity.Day) string { return number(d.PromptTokens) }},
	{"completion_tokens", func(d *activity.Day) string { return number(d.CompletionTokens) }},
	{"reasoning_tokens", func(d *activity.Day) string { return number(d.ReasoningTokens) }},
	{"cached_tokens", func(d *activity.Day) string { return number(d.CachedTokens) }},
}

// seriesRow is a point of a series.
type seriesRow struct {
	series string // "series", "other"
	name   string
	activity.Point
}

// seriesColumns are those of GET /api/v1/activity/series; by names the second.
func seriesColumns(by string) []column[seriesRow] {
	columns := []column[seriesRow]{
		{"at", func(r *seriesRow) string { return timestamp(r.Start) }},
		{"series", func(r *seriesRow) string { return r.series }},
		{by, func(r *seriesRow) string { return text(r.name) }},
		{"requests", func(r *seriesRow) string { return number(r.Requests) }},
		{"errors", func(r *seriesRow) string { return number(r.Errors) }},
		{"unpriced", func(r *seriesRow) string { return number(r.Unpriced) }},
		{"cost", func(r *seriesRow) string { return money(r.CostNano) }},
		{"prompt_tokens", func(r *seriesRow) string { return number(r.PromptTokens) }},
		{"completion_tokens", func(r *seriesRow) string { return number(r.CompletionTokens) }},
		{"reasoning_tokens", func(r *seriesRow) string { return number(r.ReasoningTokens) }},
		{"cached_tokens", func(r *seriesRow) string { return number(r.CachedTokens) }},
	}
	for _, p := range []struct {
		name string
		of   func(*seriesRow) *activity.Percentiles
	}{
		{"duration_ms", func(r *seriesRow) *activity.Percentiles { return &r.Duration }},
		{"first_token_ms", func(r *seriesRow) *activity.Percentiles { return &r.FirstToken }},
		{"per_token_ms", func(r *seriesRow) *activity.Percentiles { return &r.PerToken }},
		{"overhead_ms", func(r *seriesRow) *activity.Percentiles { return &r.Overhead }},
	} {
		columns = append(columns,
			column[seriesRow]{p.name + "_p50", func(r *seriesRow) string { return milliseconds(p.of(r).P50) }},
			column[seriesRow]{p.name + "_p95", func(r *seriesRow) string { return milliseconds(p.of(r).P95) }},
			column[seriesRow]{p.name + "_p99", func(r *seriesRow) string { return milliseconds(p.of(r).P99) }},
		)
	}
	return columns
}
