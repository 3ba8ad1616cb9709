package activitytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// Random is the n-th record, one of few combinations, within three days before Noon.
func Random(r *rand.Rand, n int) *activity.Record {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	record := &activity.Record{
		ID: fmt.Sprintf("gen-%d", n), RequestID: fmt.Sprintf("req-%d", n), CreatedAt: Noon.Add(-time.Duration(r.IntN(72*3600)) * time.Second),
		Tenant: pick("acme", "acme", "umbrella"), Key: pick("dev", "ci"), Model: pick("a/x", "b/y"),
		Provider: pick("a", "b", ""), Code: pick("", "", "", "upstream_error", "budget_exceeded"), Status: 200,
		Latency: time.Duration(r.Int64N(int64(time.Minute))), UsageSource: pick(activity.UsageProvider, activity.UsageNone), Priced: r.IntN(3) > 0,
		PromptTokens: r.Int64N(1000), CompletionTokens: r.Int64N(1000), ReasoningTokens: r.Int64N(100), CachedTokens: r.Int64N(100), CostNano: r.Int64N(1e9),
		Overhead: time.Duration(r.Int64N(int64(time.Millisecond))), EndUser: []string{"", "ada", "bob"}[n%3], App: []string{"", "chat"}[n%2],
	}
	if r.IntN(3) == 0 {
		record.Units[r.IntN(len(record.Units))] = r.Int64N(1000)
	}
	if record.Provider == "" {
		record.Model = fmt.Sprint("invented", n)
	}
	if record.Stream = r.IntN(2) == 0; record.Stream {
		record.FirstToken = record.Latency / 3
	}
	return record
}

// random appends random records.
func random(log activity.Log, seed uint64, n int) (records []*activity.Record) {
	r := rand.New(rand.NewPCG(seed, seed))
	for i := range n {
		records = append(records, Random(r, i))
		log.Append(records[i])
	}
	return records
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
	case "end_user":
		return r.EndUser
	case "app":
		return r.App
	}
	if r.Provider == "" {
		return ""
	}
	return r.Model
}

// SumsOf is what a record counts as.
func SumsOf(r *activity.Record) activity.Sums {
	s := activity.Sums{
		Requests: 1, PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens,
		ReasoningTokens: r.ReasoningTokens, CachedTokens: r.CachedTokens, CostNano: r.CostNano, Units: r.Units,
	}
	if r.Code != "" {
		s.Errors = 1
	}
	if !r.Priced && r.UsageSource != activity.UsageNone {
		s.Unpriced = 1
	}
	return s
}

// Plus adds sums.
func Plus(a, b activity.Sums) activity.Sums {
	a.Requests += b.Requests
	a.Errors += b.Errors
	a.Unpriced += b.Unpriced
	a.PromptTokens += b.PromptTokens
	a.CompletionTokens += b.CompletionTokens
	a.ReasoningTokens += b.ReasoningTokens
	a.CachedTokens += b.CachedTokens
	a.CostNano += b.CostNano
	for u := range a.Units {
		a.Units[u] += b.Units[u]
	}
	return a
}

// Series returns the answer to a query as a URL has it.
func Series(t testing.TB, log activity.Log, q string) activity.Series {
	t.Helper()
	values, err := url.ParseQuery(q)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := activity.ParseSeries(values, Noon)
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

// WantSums compares series of every kind with the sums of the records, which are from May 1st to 4th.
func WantSums(t testing.TB, log activity.Log, records []*activity.Record) {
	t.Helper()
	for _, by := range []string{"model", "key", "tenant", "provider", "code"} {
		for step, unit := range map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour} {
			for _, tenant := range []string{"", "acme"} {
				wantSeries(t, log, records, by, step, unit, tenant, firstDay, lastDay)
			}
		}
	}
}

// The days of random records.
var firstDay, lastDay = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC)

func wantSeries(t testing.TB, log activity.Log, records []*activity.Record, by, step string, unit time.Duration, tenant string, from, to time.Time) {
	t.Helper()
	type at struct {
		name  string
		start time.Time
	}
	want, got := map[at]activity.Sums{}, map[at]activity.Sums{}
	for _, r := range records {
		if (tenant == "" || r.Tenant == tenant) && !r.CreatedAt.Before(from) && r.CreatedAt.Before(to) {
			k := at{field(by, r), r.CreatedAt.Truncate(unit)}
			want[k] = Plus(want[k], SumsOf(r))
		}
	}
	q := "by=" + by + "&step=" + step + "&from=" + from.Format(time.RFC3339) + "&to=" + to.Format(time.RFC3339) + "&top=50"
	if tenant != "" {
		q += "&tenant=" + tenant
	}
	answer := Series(t, log, q)
	if !answer.Complete || answer.Other != nil {
		t.Fatalf("%s: complete %v, %d others", q, answer.Complete, answer.Others)
	}
	all := activity.Sums{}
	for _, line := range answer.Series {
		var sum activity.Sums
		for _, p := range line.Points {
			got[at{line.Name, p.Start}] = p.Sums
			sum = Plus(sum, p.Sums)
		}
		if sum != line.Total.Sums {
			t.Errorf("%s: %q: the points make %+v, the total is %+v", q, line.Name, sum, line.Total.Sums)
		}
		all = Plus(all, sum)
	}
	if all != answer.All.Total.Sums {
		t.Errorf("%s: the series make %+v, all are %+v", q, all, answer.All.Total.Sums)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %d points, want %d, or their sums differ", q, len(got), len(want))
	}
}

func sums(t *testing.T, log activity.Log) {
	records := random(log, 1, 600)
	WantSums(t, log, records)
	WantSums(t, log, All(t, log, activity.Filter{AllTenants: true}))
}

// disorder appends from several goroutines, with queries between.
func disorder(t *testing.T, log activity.Log) {
	const writers, each = 4, 150
	var mu sync.Mutex
	var records []*activity.Record
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			for i := range each {
				record := Random(r, w*each+i)
				mu.Lock()
				records = append(records, record)
				mu.Unlock()
				log.Append(record)
				if i%50 == 0 {
					if _, err := log.Costs(context.Background(), "acme", ""); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	WantSums(t, log, records)
}

func rebuild(t *testing.T, log activity.Log) {
	records := random(log, 2, 500)
	before := Series(t, log, "by=model&step=hour&from=2026-05-01&to=2026-05-04")
	rows, err := log.Rebuild(context.Background())
	if err != nil || rows != len(records) {
		t.Fatalf("rebuilt from %d rows, %v", rows, err)
	}
	if after := Series(t, log, "by=model&step=hour&from=2026-05-01&to=2026-05-04"); !reflect.DeepEqual(before, after) {
		t.Errorf("a series was\n%+v, is\n%+v", before, after)
	}
	done := make(chan error)
	go func() {
		_, err := log.Rebuild(context.Background())
		done <- err
	}()
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 { // calls go on meanwhile
		record := Random(r, len(records))
		records = append(records, record)
		log.Append(record)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	WantSums(t, log, records)
}

func daily(t *testing.T, log activity.Log) {
	records := random(log, 4, 500)
	for _, f := range []activity.Filter{
		{Tenant: "acme"}, {AllTenants: true}, {Tenant: "acme", Model: "a/x"}, {Tenant: "acme", Model: "invented1"}, {Tenant: "acme", Provider: "a"},
		{Tenant: "acme", Key: "ci", Code: "upstream_error"}, {Tenant: "acme", Code: activity.AnyCode}, {Tenant: "acme", Code: activity.UpstreamFailures}, {Tenant: "acme", Date: "2026-05-03"}, {Tenant: "nobody"},
	} {
		rolledUp, err := log.Daily(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		f.From = Noon.Add(-99*24*time.Hour - 1) // a part of a day: the rows are read
		rows, err := log.Daily(context.Background(), f)
		if err != nil || !reflect.DeepEqual(rolledUp, rows) {
			t.Errorf("%+v: %d and %d days, or their sums differ; %v", f, len(rolledUp), len(rows), err)
		}
	}
	want := activity.Sums{}
	for _, r := range records {
		if r.Tenant == "acme" && r.Key == "dev" {
			want = Plus(want, SumsOf(r))
		}
	}
	days, err := log.Costs(context.Background(), "acme", "dev")
	got := activity.Sums{}
	for _, d := range days {
		got = Plus(got, d.Sums)
	}
	if err != nil || got != want || len(days) != 4 {
		t.Errorf("the costs of a key in %d days are %+v, want %+v; %v", len(days), got, want, err)
	}
}

// invented appends calls to more models than the roll-up names for one key and hour.
func invented(t *testing.T, log activity.Log) {
	const models = 640
	var want activity.Sums
	for i := range models {
		r := Call(i)
		r.CreatedAt = Noon.Add(time.Duration(i) * time.Millisecond)
		r.Model = fmt.Sprint("model", i)
		log.Append(r)
		want = Plus(want, SumsOf(r))
	}
	for _, step := range []string{"hour", "day"} {
		got := Series(t, log, "by=model&step="+step)
		if got.All.Total.Sums != want || got.Others < 100 || got.Others >= models-activity.DefaultTop {
			t.Errorf("by %s: %d series, all are %+v", step, len(got.Series)+got.Others, got.All.Total.Sums)
		}
	}
	names := slices.Collect(func(yield func(string) bool) {
		for _, line := range Series(t, log, "by=model&step=hour").Series {
			if !yield(line.Name) {
				return
			}
		}
	})
	if !slices.Contains(names, "") {
		t.Errorf("the calls above the bound are not together: %q", names)
	}
}
