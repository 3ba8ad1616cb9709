package report

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// members are the members of a record in JSON that are not OpenRouter's, without those of the forms that
// are left out.
func members(r *activity.Record, left activity.Form) (all []openrouter.Member) {
	left |= activity.InItem
	if r.Ended == "" {
		left |= activity.OfSession
	}
	for i := range activity.Fields {
		f := &activity.Fields[i]
		if !f.Form.Has(left) && !(f.Form.Has(activity.OrNone) && f.Empty(r)) {
			all = append(all, openrouter.Member{Name: f.Name, Value: jsonValue(f, r)})
		}
	}
	return all
}

// RowMembers are all members of a row that are not OpenRouter's, with empty values of their types.
func RowMembers() (all []openrouter.Member) {
	for i := range activity.Fields {
		if f := &activity.Fields[i]; !f.Form.Has(activity.InItem) {
			all = append(all, openrouter.Member{Name: f.Name, Value: jsonValue(f, new(activity.Record))})
		}
	}
	return all
}

// jsonValue is a field of a record as JSON has it.
func jsonValue(f *activity.Field, r *activity.Record) any {
	null := f.Form.Has(activity.OrNull)
	switch v := f.Of(r).(type) {
	case *string:
		if null {
			return openrouter.Text(*v)
		}
	case *int64:
		if f.Form.Has(activity.Money) {
			return openrouter.USD(*v)
		}
	case *time.Duration:
		switch {
		case null:
			return openrouter.Milliseconds(*v)
		case f.Form.Has(activity.Decimals):
			return openrouter.FractionMilliseconds(*v)
		}
		return v.Milliseconds()
	case *time.Time:
		return openrouter.Timestamp(*v)
	case *[]activity.Attempt:
		return attempts(*v)
	}
	return f.Of(r)
}

func attempts(of []activity.Attempt) (all []openrouter.Attempt) {
	for _, a := range of {
		all = append(all, openrouter.Attempt{
			Target: a.Target, Status: openrouter.Count(a.Status), Code: openrouter.Text(a.Code), LatencyMS: a.Latency.Milliseconds(),
		})
	}
	return all
}

// csvOrder has the columns of GET /api/v1/activity in their order. Fields that it does not have follow.
const csvOrder = "created_at id request_id tenant key route model model_permaslug provider_name status code refused_by stream " +
	"latency_ms first_token_ms queued_ms overhead_ms finish_reason usage_source priced usage " +
	"prompt_tokens completion_tokens reasoning_tokens cached_tokens attempts output_cap workstation ended bytes_up bytes_down trace_id user"

// callColumns are the columns of GET /api/v1/activity. They have the names of the members in JSON.
var callColumns = makeCallColumns()

func makeCallColumns() (all []column[activity.Record]) {
	order := strings.Fields(csvOrder)
	all = slices.Grow(all, len(activity.Fields))[:len(order)]
	all[slices.Index(order, "model_permaslug")] = column[activity.Record]{"model_permaslug", func(r *activity.Record) string {
		return text(cmp.Or(r.UpstreamModel, r.Model))
	}}
	for i := range activity.Fields {
		f := &activity.Fields[i]
		c := column[activity.Record]{f.Name, func(r *activity.Record) string { return cell(f, r) }}
		list := reflect.TypeOf(f.Of(new(activity.Record))).Elem().Kind() == reflect.Slice
		switch at := slices.Index(order, f.Name); {
		case at >= 0:
			all[at] = c
		case !list && !f.Form.Has(activity.ByID):
			all = append(all, c)
		}
	}
	return all
}

// cell is a field of a record as CSV has it.
func cell(f *activity.Field, r *activity.Record) string {
	switch v := f.Of(r).(type) {
	case *string:
		return text(*v)
	case *bool:
		return strconv.FormatBool(*v)
	case *int:
		return strconv.Itoa(*v)
	case *int64:
		if f.Form.Has(activity.Money) {
			return money(*v)
		}
		return number(*v)
	case *time.Duration:
		return milliseconds(*v)
	case *time.Time:
		return timestamp(*v)
	}
	return ""
}
