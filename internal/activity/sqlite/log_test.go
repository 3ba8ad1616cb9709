package sqlite_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

var noon = activitytest.Noon

func open(t testing.TB, opts store.Options) (*store.Store, *sqlite.Log) {
	t.Helper()
	opts.Schemas = []store.Schema{sqlite.Schema}
	st, err := store.Open(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st, sqlite.New(st)
}

// record is the n-th call, a second after the previous one.
func record(n int) *activity.Record { return activitytest.Call(n) }

func TestATimeBeforeAllIsThatOfTheFirstSecond(t *testing.T) {
	_, log := open(t, store.Options{})
	r := record(1)
	r.CreatedAt = time.Time{}
	log.Append(r)
	if got := activitytest.Query(t, log, activity.Filter{Tenant: "default"}).Records[0]; got.CreatedAt.Unix() != 0 {
		t.Errorf("%v", got.CreatedAt)
	}
}

func TestDaily(t *testing.T) {
	_, log := open(t, store.Options{})
	for i := range 3 {
		log.Append(record(i))
	}
	huge := record(3)
	huge.CostNano, huge.Model = 1<<53, "openai/dear"
	log.Append(huge)
	unpriced := record(4)
	unpriced.Priced, unpriced.CreatedAt, unpriced.Provider = false, noon.AddDate(0, 0, -1), "second"
	log.Append(unpriced)
	foreign := record(5)
	foreign.Tenant = "other"
	log.Append(foreign)
	got, err := log.Daily(context.Background(), activity.Filter{Tenant: "default", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []activity.Day{
		{Date: "2026-05-04", Model: "openai/dear", Provider: "openai", Sums: activity.Sums{Requests: 1, PromptTokens: 10, CompletionTokens: 20, ReasoningTokens: 5, CachedTokens: 3, CostNano: 1 << 53, Units: units.Counts{1, 2, 3, 4, 5, 6, 7, 8}}},
		{Date: "2026-05-04", Model: "openai/gpt", Provider: "openai", Sums: activity.Sums{Requests: 3, PromptTokens: 30, CompletionTokens: 60, ReasoningTokens: 15, CachedTokens: 9, CostNano: 4_500_000_000, Units: units.Counts{3, 6, 9, 12, 15, 18, 21, 24}}},
		{Date: "2026-05-03", Model: "openai/gpt", Provider: "second", Sums: activity.Sums{Requests: 1, Unpriced: 1, PromptTokens: 10, CompletionTokens: 20, ReasoningTokens: 5, CachedTokens: 3, CostNano: 1_500_000_000, Units: units.Counts{1, 2, 3, 4, 5, 6, 7, 8}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := log.Daily(context.Background(), activity.Filter{}); err == nil {
		t.Error("no tenant is taken for all tenants")
	}
	log.Bounds.Days = 2
	if _, err := log.Daily(context.Background(), activity.Filter{Tenant: "default"}); !errors.Is(err, activity.ErrTooManyDays) {
		t.Errorf("more rows than an answer may have: %v", err)
	}
}

func BenchmarkAppend(b *testing.B) {
	st, log := open(b, store.Options{QueueBytes: 1 << 30})
	b.ReportAllocs()
	records := make([]*activity.Record, 0, 1<<16)
	for b.Loop() {
		if len(records) == 0 {
			b.StopTimer()
			if err := st.Flush(context.Background()); err != nil {
				b.Fatal(err)
			}
			for i := range 1 << 13 {
				records = append(records, record(i))
			}
			b.StartTimer()
		}
		log.Append(records[len(records)-1])
		records = records[:len(records)-1]
	}
}
