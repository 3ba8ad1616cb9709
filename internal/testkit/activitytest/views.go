package activitytest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// Viewed is what an operator reads of a call by SQL.
const Viewed = "SELECT status || ' ' || latency_ns || ' ' || prompt_tokens || ' ' || cost_nano || ' ' || created_ns || ' ' || " +
	"tenant || ' ' || key || ' ' || model || ' ' || provider || ' ' || id || ' ' || request_id || ' ' || route || ' ' || code || ' ' || " +
	"usage_source || ' ' || audio_input_tokens || ' ' || images || ' ' || audio_ms FROM gatehouse_calls ORDER BY created_ns"

// summed is what an operator reads of sums.
const summed = "SELECT CAST(sum(requests) AS bigint), CAST(sum(unpriced) AS bigint), CAST(sum(prompt_tokens) AS bigint), " +
	"CAST(sum(completion_tokens) AS bigint), " +
	"CAST(sum(cost_nano) AS bigint), CAST(sum(audio_input_tokens) AS bigint), CAST(sum(images) AS bigint), CAST(sum(audio_ms) AS bigint) FROM "

// ViewedRecords are calls with numbers of all lengths, and their sums.
func ViewedRecords() (records []*activity.Record, want []string, sums [8]int64) {
	for i := range 40 {
		r := Call(i)
		r.CreatedAt = Noon.Add(time.Duration(i) * time.Minute)
		r.PromptTokens, r.CompletionTokens, r.CostNano = min(int64(1)<<i, 1<<36), int64(i)*37, min(int64(math.Pow(3, float64(i))), 1<<53)
		r.Latency, r.Priced = time.Duration(i*i*i*i)*time.Microsecond, i%3 > 0
		if r.Code = ""; i%5 == 0 {
			r.Code, r.Status = "upstream_error", 502
		}
		if r.Units = (units.Counts{}); i%4 > 1 {
			r.Units = units.Counts{units.AudioInput: int64(i) << (i % 20), units.Images: 1, units.Millis: int64(i * i * i)}
		}
		records = append(records, r)
		want = append(want, fmt.Sprint(r.Status, " ", int64(r.Latency), " ", r.PromptTokens, " ", r.CostNano, " ", r.CreatedAt.UnixNano(), " ",
			r.Tenant, " ", r.Key, " ", r.Model, " ", r.Provider, " ", r.ID, " ", r.RequestID, " ", r.Route, " ", r.Code, " ", r.UsageSource, " ",
			r.Units[units.AudioInput], " ", r.Units[units.Images], " ", r.Units[units.Millis]))
		s := SumsOf(r)
		for at, n := range []int64{
			s.Requests, s.Unpriced, s.PromptTokens, s.CompletionTokens, s.CostNano,
			s.Units[units.AudioInput], s.Units[units.Images], s.Units[units.Millis],
		} {
			sums[at] += n
		}
	}
	return records, want, sums
}

// WantViews compares the views with what was recorded.
func WantViews(t *testing.T, want []string, sums [8]int64, next func(*string) bool, one func(query string, got []any) error) {
	t.Helper()
	var line string
	n := 0
	for ; next(&line); n++ {
		if n < len(want) && line != want[n] {
			t.Errorf("got  %s\nwant %s", line, want[n])
		}
	}
	if n != len(want) {
		t.Errorf("%d calls, want %d", n, len(want))
	}
	for _, view := range []string{"gatehouse_days", "gatehouse_hours"} {
		var got [8]int64
		if err := one(summed+view, []any{&got[0], &got[1], &got[2], &got[3], &got[4], &got[5], &got[6], &got[7]}); err != nil || got != sums {
			t.Errorf("%s: %v, want %v; %v", view, got, sums, err)
		}
	}
}
