package report

import (
	"cmp"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// callColumns are those of GET /api/v1/activity. They have the names of the members in JSON.
var callColumns = []column[activity.Record]{
	{"created_at", func(r *activity.Record) string { return timestamp(r.CreatedAt) }},
	{"id", func(r *activity.Record) string { return text(r.ID) }},
	{"request_id", func(r *activity.Record) string { return text(r.RequestID) }},
	{"tenant", func(r *activity.Record) string { return text(r.Tenant) }},
	{"key", func(r *activity.Record) string { return text(r.Key) }},
	{"route", func(r *activity.Record) string { return text(r.Route) }},
	{"model", func(r *activity.Record) string { return text(r.Model) }},
	{"model_permaslug", func(r *activity.Record) string { return text(cmp.Or(r.UpstreamModel, r.Model)) }},
	{"provider_name", func(r *activity.Record) string { return text(r.Provider) }},
	{"status", func(r *activity.Record) string { return strconv.Itoa(r.Status) }},
	{"code", func(r *activity.Record) string { return text(r.Code) }},
	{"refused_by", func(r *activity.Record) string { return text(r.RefusedBy) }},
	{"stream", func(r *activity.Record) string { return strconv.FormatBool(r.Stream) }},
	{"latency_ms", func(r *activity.Record) string { return milliseconds(r.Latency) }},
	{"first_token_ms", func(r *activity.Record) string { return milliseconds(r.FirstToken) }},
	{"queued_ms", func(r *activity.Record) string { return milliseconds(r.Queued) }},
	{"overhead_ms", func(r *activity.Record) string { return milliseconds(r.Overhead) }},
	{"finish_reason", func(r *activity.Record) string { return text(r.FinishReason) }},
	{"usage_source", func(r *activity.Record) string { return text(r.UsageSource) }},
	{"priced", func(r *activity.Record) string { return strconv.FormatBool(r.Priced) }},
	{"usage", func(r *activity.Record) string { return money(r.CostNano) }},
	{"prompt_tokens", func(r *activity.Record) string { return number(r.PromptTokens) }},
	{"completion_tokens", func(r *activity.Record) string { return number(r.CompletionTokens) }},
	{"reasoning_tokens", func(r *activity.Record) string { return number(r.ReasoningTokens) }},
	{"cached_tokens", func(r *activity.Record) string { return number(r.CachedTokens) }},
	{"attempts", func(r *activity.Record) string { return strconv.Itoa(r.Attempts) }},
	{"output_cap", func(r *activity.Record) string { return number(r.OutputCap) }},
	{"workstation", func(r *activity.Record) string { return text(r.Workstation) }},
	{"ended", func(r *activity.Record) string { return text(r.Ended) }},
	{"bytes_up", func(r *activity.Record) string { return number(r.BytesUp) }},
	{"bytes_down", func(r *activity.Record) string { return number(r.BytesDown) }},
	{"trace_id", func(r *activity.Record) string { return text(r.TraceID) }},
	{"user", func(r *activity.Record) string { return text(r.User) }},
}

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
