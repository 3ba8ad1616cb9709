package activity_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// randomRecord is one of few combinations, within three days.
func randomRecord(r *rand.Rand, n int) *activity.Record {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	record := &activity.Record{
		ID: fmt.Sprintf("gen-%d", n), RequestID: fmt.Sprintf("req-%d", n), CreatedAt: noon.Add(-time.Duration(r.IntN(72*3600)) * time.Second),
		Tenant: pick("acme", "acme", "umbrella"), Key: pick("dev", "ci"), Model: pick("a/x", "b/y"),
		Provider: pick("a", "b", ""), Code: pick("", "", "", "upstream_error", "budget_exceeded"), Status: 200,
		Latency: time.Duration(r.Int64N(int64(time.Minute))), UsageSource: pick(activity.UsageProvider, activity.UsageNone), Priced: r.IntN(3) > 0,
		PromptTokens: r.Int64N(1000), CompletionTokens: r.Int64N(1000), ReasoningTokens: r.Int64N(100), CachedTokens: r.Int64N(100), CostNano: r.Int64N(1e9),
		Overhead: time.Duration(r.Int64N(int64(time.Millisecond))),
	}
	if record.Provider == "" {
		record.Model = fmt.Sprint("invented", n)
	}
	if record.Stream = r.IntN(2) == 0; record.Stream {
		record.FirstToken = record.Latency / 3
	}
	return record
}

// field is what a series by a field counts a record as.
func field(by string, r *activity.Record) string {
	switch by {
	case "key":
		return r.Key
	case "tenant":
		return r.Tenant
	case "provider":
		return r.Provider
	case "code":
		return r.Code
	}
	if r.Provider == "" {
		return ""
	}
	return r.Model
}

func sumsOf(r *activity.Record) activity.Sums {
	s := activity.Sums{
		Requests: 1, PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens,
		ReasoningTokens: r.ReasoningTokens, CachedTokens: r.CachedTokens, CostNano: r.CostNano,
	}
	if r.Code != "" {
		s.Errors = 1
	}
	if !r.Priced && r.UsageSource != activity.UsageNone {
		s.Unpriced = 1
	}
	return s
}

func plus(a, b activity.Sums) activity.Sums {
	a.Requests += b.Requests
	a.Errors += b.Errors
	a.Unpriced += b.Unpriced
	a.PromptTokens += b.PromptTokens
	a.CompletionTokens += b.CompletionTokens
	a.ReasoningTokens += b.ReasoningTokens
	a.CachedTokens += b.CachedTokens
	a.CostNano += b.CostNano
	return a
}

func series(t testing.TB, log *activity.SQLiteLog, q string) activity.Series {
	t.Helper()
	values, err := url.ParseQuery(q)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := activity.ParseSeries(values, noon)
	if err != nil {
		t.Fatal(err)
	}
	asked.AllTenants = asked.Tenant == ""
	got, err := log.Series(context.Background(), asked)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantSums compares series of every kind with the sums of the records.
func wantSums(t *testing.T, log *activity.SQLiteLog, records []*activity.Record) {
	t.Helper()
	for _, by := range []string{"model", "key", "tenant", "provider", "code"} {
		for _, step := range []time.Duration{time.Hour, 24 * time.Hour} {
			for _, tenant := range []string{"", "acme"} {
				type at struct {
					name  string
					start time.Time
				}
				want, got := map[at]activity.Sums{}, map[at]activity.Sums{}
				for _, r := range records {
					if tenant == "" || r.Tenant == tenant {
						k := at{field(by, r), r.CreatedAt.Truncate(step)}
						want[k] = plus(want[k], sumsOf(r))
					}
				}
				q := "by=" + by + "&step=hour&from=2026-05-01&to=2026-05-04&top=50"
				if step > time.Hour {
					q = "by=" + by + "&step=day&from=2026-05-01&to=2026-05-04&top=50"
				}
				if tenant != "" {
					q += "&tenant=" + tenant
				}
				answer := series(t, log, q)
				if !answer.Complete || answer.Other != nil {
					t.Fatalf("%s: complete %v, %d others", q, answer.Complete, answer.Others)
				}
				all := activity.Sums{}
				for _, line := range answer.Series {
					var sum activity.Sums
					for _, p := range line.Points {
						got[at{line.Name, p.Start}] = p.Sums
						sum = plus(sum, p.Sums)
					}
					if sum != line.Total.Sums {
						t.Errorf("%s: %q: the points make %+v, the total is %+v", q, line.Name, sum, line.Total.Sums)
					}
					all = plus(all, sum)
				}
				if all != answer.All.Total.Sums {
					t.Errorf("%s: the series make %+v, all are %+v", q, all, answer.All.Total.Sums)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %d points, want %d, or their sums differ", q, len(got), len(want))
				}
			}
		}
	}
}

// faulty is an operation that the database rejects: all others are then applied once more.
type faulty struct{}

func (faulty) Droppable() bool       { return false }
func (faulty) Apply(*store.Tx) error { return errors.New("rejected") }

func TestSumsOfSeriesAreSumsOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	st, log := open(t, store.Options{CommitInterval: time.Hour})
	var records []*activity.Record
	for range 20 {
		for range 1 + r.IntN(120) {
			record := randomRecord(r, len(records))
			records = append(records, record)
			log.Append(record)
		}
		if r.IntN(2) == 0 {
			if err := st.Submit(faulty{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantSums(t, log, records)

	// A rebuild makes the same, also of what is recorded meanwhile.
	done := make(chan error)
	go func() {
		rows, err := log.Rebuild(t.Context())
		if err == nil && rows < 500 {
			err = fmt.Errorf("only %d rows", rows)
		}
		done <- err
	}()
	for range 300 {
		record := randomRecord(r, len(records))
		records = append(records, record)
		log.Append(record)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantSums(t, log, records)
}

func TestSeriesAddUpTheRest(t *testing.T) {
	_, log := open(t, store.Options{})
	for i, cost := range []int64{5, 1, 9, 2} {
		r := record(i)
		r.Key, r.CostNano = fmt.Sprint("k", i), cost
		log.Append(r)
	}
	got := series(t, log, "by=key&top=2&step=hour")
	var names []string
	for _, line := range got.Series {
		names = append(names, fmt.Sprint(line.Name, "=", line.Total.CostNano))
	}
	if !slices.Equal(names, []string{"k2=9", "k0=5"}) || got.Others != 2 || got.Other.Total.CostNano != 3 || got.All.Total.CostNano != 17 {
		t.Errorf("series %v, %d others %+v, all %+v", names, got.Others, got.Other, got.All)
	}
	if len(got.Series[0].Points) != 1 || !got.Series[0].Points[0].Start.Equal(noon.Truncate(time.Hour)) {
		t.Errorf("points %+v", got.Series[0].Points)
	}
}

func TestPercentilesAreWithinTheirError(t *testing.T) {
	_, log := open(t, store.Options{})
	r := rand.New(rand.NewPCG(3, 4))
	var all []time.Duration
	for i := range 1000 {
		d := time.Duration(r.ExpFloat64() * float64(2*time.Second)).Truncate(time.Microsecond)
		all = append(all, d)
		call := record(0)
		call.ID, call.Latency, call.FirstToken, call.CompletionTokens, call.Overhead = fmt.Sprint(i), d, d/2, 11, d/1000
		log.Append(call)
	}
	failed := record(0)
	failed.Code, failed.Latency = "upstream_error", 10*time.Hour
	log.Append(failed)
	slices.Sort(all)
	p := series(t, log, "").All.Total
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"p50", p.Duration.P50, all[499]}, {"p95", p.Duration.P95, all[949]}, {"p99", p.Duration.P99, all[989]},
		{"first token p50", p.FirstToken.P50, all[499] / 2}, {"per token p95", p.PerToken.P95, all[949] / 20}, {"overhead p99", p.Overhead.P99, all[989] / 1000},
	} {
		if off := float64(c.got-c.want) / float64(c.want); off > activity.PercentileError+0.001 || off < -activity.PercentileError-0.001 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if p.Duration.Count != 1000 {
		t.Errorf("%d durations", p.Duration.Count)
	}
	if p := series(t, log, "by=code").Series; len(p) != 2 || p[1].Name != "upstream_error" && p[0].Name != "upstream_error" {
		t.Errorf("by code: %+v", p)
	}
}

func TestSeriesQueriesAreChecked(t *testing.T) {
	for q, want := range map[string]string{
		"by=user": "by must be model, key", "step=week": "step must be hour or day", "top=0": "top must be a number", "top=51": "top must be",
		"from=2026-05-04&to=2026-05-01": "to must be after from", "step=hour&from=2026-01-01&to=2026-05-01": "an answer has at most 800",
		"from=x": "from must be", "by=key&by=model": "by must be given once",
	} {
		values, _ := url.ParseQuery(q)
		_, err := activity.ParseSeries(values, noon)
		if param := (*activity.ParamError)(nil); !errors.As(err, &param) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", q, err)
		}
	}
	got, err := activity.ParseSeries(url.Values{"step": {"hour"}}, noon)
	if err != nil || !got.From.Equal(noon.Truncate(time.Hour).Add(-23*time.Hour)) || !got.To.Equal(noon.Truncate(time.Hour).Add(time.Hour)) {
		t.Errorf("the default time is %v to %v, %v", got.From, got.To, err)
	}
}
