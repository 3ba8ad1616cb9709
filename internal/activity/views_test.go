package activity_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// viewed is what an operator reads of a call by SQL.
const viewed = "SELECT status || ' ' || latency_ns || ' ' || prompt_tokens || ' ' || cost_nano || ' ' || created_ns || ' ' || tenant || ' ' || key || ' ' || model || ' ' || " +
	"provider || ' ' || id || ' ' || request_id || ' ' || route || ' ' || code || ' ' || usage_source || ' ' || audio_input_tokens || ' ' || images || ' ' || audio_ms FROM gatehouse_calls ORDER BY created_ns"

// summed is what an operator reads of sums.
const summed = "SELECT CAST(sum(requests) AS bigint), CAST(sum(unpriced) AS bigint), CAST(sum(prompt_tokens) AS bigint), CAST(sum(completion_tokens) AS bigint), " +
	"CAST(sum(cost_nano) AS bigint), CAST(sum(audio_input_tokens) AS bigint), CAST(sum(images) AS bigint), CAST(sum(audio_ms) AS bigint) FROM "

// viewedRecords are calls with numbers of all lengths, and their sums.
func viewedRecords() (records []*activity.Record, want []string, sums [8]int64) {
	for i := range 40 {
		r := activitytest.Call(i)
		r.CreatedAt = noon.Add(time.Duration(i) * time.Minute)
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
			r.Tenant, " ", r.Key, " ", r.Model, " ", r.Provider, " ", r.ID, " ", r.RequestID, " ", r.Route, " ", r.Code, " ", r.UsageSource, " ", r.Units[units.AudioInput], " ", r.Units[units.Images], " ", r.Units[units.Millis]))
		s := activitytest.SumsOf(r)
		for at, n := range []int64{s.Requests, s.Unpriced, s.PromptTokens, s.CompletionTokens, s.CostNano, s.Units[units.AudioInput], s.Units[units.Images], s.Units[units.Millis]} {
			sums[at] += n
		}
	}
	return records, want, sums
}

func TestAnOperatorReadsViewsOfSQLite(t *testing.T) {
	st, log := open(t, store.Options{})
	records, want, sums := viewedRecords()
	for _, r := range records {
		log.Append(r)
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := st.Reader().QueryContext(t.Context(), viewed)
	if err != nil {
		t.Fatal(err)
	}
	wantViews(t, want, sums, func(line *string) bool { return rows.Next() && rows.Scan(line) == nil }, func(query string, got []any) error {
		return st.Reader().QueryRowContext(t.Context(), query).Scan(got...)
	})
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
	var at, day string
	err = st.Reader().QueryRow("SELECT max(created_at), (SELECT max(day) FROM gatehouse_days) FROM gatehouse_calls").Scan(&at, &day)
	if err != nil || at != "2026-05-04T12:39:00.123Z" || day != "2026-05-04" {
		t.Errorf("%s, %s, %v", at, day, err)
	}
	var damaged sql.NullInt64
	execute(t, st, "UPDATE activity SET data = x'010080'")
	if err := st.Reader().QueryRow("SELECT max(status) FROM gatehouse_calls").Scan(&damaged); err != nil || damaged.Valid {
		t.Errorf("damaged rows have %v, %v", damaged, err)
	}
}

func TestAnOperatorReadsViewsOfPostgreSQL(t *testing.T) {
	server := enginetest.Postgres(t)
	n := newNode(t, server, "a")
	records, want, sums := viewedRecords()
	for _, r := range records {
		n.Append(r)
	}
	flush(t, n)
	pool := n.db.Pool()
	rows, err := pool.Query(t.Context(), viewed)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	wantViews(t, want, sums, func(line *string) bool {
		if len(lines) == 0 {
			return false
		}
		*line, lines = lines[0], lines[1:]
		return true
	}, func(query string, got []any) error { return pool.QueryRow(context.Background(), query).Scan(got...) })
}

// wantViews compares the views with what was recorded.
func wantViews(t *testing.T, want []string, sums [8]int64, next func(*string) bool, one func(query string, got []any) error) {
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
