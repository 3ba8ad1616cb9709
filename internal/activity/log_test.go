package activity_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)

func open(t testing.TB, opts store.Options) (*store.Store, *activity.SQLiteLog) {
	t.Helper()
	opts.Schemas = []store.Schema{activity.Schema}
	st, err := store.Open(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st, activity.New(st)
}

// record is the n-th call, a second after the previous one.
func record(n int) *activity.Record {
	return &activity.Record{
		ID: fmt.Sprintf("gen-%d", n), RequestID: fmt.Sprintf("req-%d", n), ClientRequestID: "mine", UpstreamID: fmt.Sprintf("chatcmpl-%d", n),
		CreatedAt: noon.Add(time.Duration(n) * time.Second), Tenant: "default", Key: "dev", KeyHash: strings.Repeat("ab", 32),
		Family: "openai", Route: "POST /v1/chat/completions", Model: "openai/gpt", Provider: "openai", UpstreamModel: "gpt",
		Status: 200, Stream: true, Latency: 1234567 * time.Nanosecond, FirstToken: 345 * time.Microsecond,
		FinishReason: "stop", NativeFinishReason: "end_turn", PromptTokens: 10, CompletionTokens: 20, ReasoningTokens: 5, CachedTokens: 3,
		UsageSource: "provider", CostNano: 1_500_000_000, Priced: true, Attempts: 2, OutputCap: 4096,
		Attempted:   []activity.Attempt{{Target: "acme/m@eu", Status: 503, Code: "upstream_error", Latency: time.Second}, {Target: "acme/m", Status: 200}},
		Workstation: "desk1", Ended: "released", BytesUp: 123, BytesDown: 1 << 40,
		RefusedBy: "key dev: rate 10/min", Queued: 3 * time.Millisecond, Overhead: 400 * time.Microsecond,
		TraceID: "0af7651916cd43dd8448eb211c80319c",
	}
}

func ids(records []activity.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, strings.TrimPrefix(r.ID, "gen-"))
	}
	return strings.Join(all, " ")
}

func query(t testing.TB, log *activity.SQLiteLog, f activity.Filter) activity.Page {
	t.Helper()
	page, err := log.Query(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestEveryFieldSurvives(t *testing.T) {
	_, log := open(t, store.Options{CommitInterval: time.Hour})
	full := *record(1)
	for i, v := 0, reflect.ValueOf(full); i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Code" {
			t.Fatalf("the fixture leaves %s zero, so this test shows nothing for it", name)
		}
	}
	refused := activity.Record{ID: "gen-2", Tenant: "default", CreatedAt: noon, Status: 429, Code: "rate_limit_exceeded", UsageSource: "none"}
	for _, r := range []activity.Record{full, refused} {
		log.Append(&r)
		got, ok, err := log.Find(context.Background(), "default", r.ID)
		if err != nil || !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("got %+v, %v, %v", got, ok, err)
		}
	}
}

func TestFind(t *testing.T) {
	_, log := open(t, store.Options{})
	const n = 1100 // more than one block of the look-up
	for i := range n {
		r := record(i)
		if i%2 == 1 {
			r.UpstreamID = "chatcmpl-same"
		}
		if i%3 == 0 {
			r.Tenant = "other"
		}
		log.Append(r)
	}
	for _, tt := range []struct{ tenant, id, want string }{
		{"other", "gen-0", "gen-0"},
		{"other", "req-900", "gen-900"},
		{"default", "chatcmpl-2", "gen-2"},
		{"default", "req-1099", "gen-1099"},
		{"default", "chatcmpl-same", "gen-1099"},
		{"other", "chatcmpl-same", "gen-1095"},
		{"default", "gen-0", ""},
		{"default", "mine", ""},
		{"", "gen-0", ""},
		{"default", "", ""},
		{"default", strings.Repeat("x", 10_000), ""},
	} {
		r, ok, err := log.Find(context.Background(), tt.tenant, tt.id)
		if err != nil || r.ID != tt.want || ok != (tt.want != "") {
			t.Errorf("%s finds %.20q: %q, %v, %v", tt.tenant, tt.id, r.ID, ok, err)
		}
	}
}

func TestPeersSizesAreBounded(t *testing.T) {
	_, log := open(t, store.Options{})
	r := record(1)
	r.Model = strings.Repeat("é", 5000)
	r.UpstreamID = "x" + strings.Repeat("é", 5000)
	r.PromptTokens, r.CachedTokens, r.CostNano = 1<<62, -1, 1<<62
	r.CreatedAt = time.Time{}
	log.Append(r)
	got := query(t, log, activity.Filter{Tenant: "default"}).Records[0]
	if got.Model != strings.Repeat("é", 128) || got.UpstreamID != "x"+strings.Repeat("é", 127) {
		t.Errorf("texts of %d and %d bytes", len(got.Model), len(got.UpstreamID))
	}
	if got.PromptTokens != 1<<36 || got.CachedTokens != 0 || got.CostNano != 1<<53 || got.CreatedAt.Unix() != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestFilters(t *testing.T) {
	_, log := open(t, store.Options{})
	for i := range 4 {
		log.Append(record(i))
	}
	odd := record(4)
	odd.CreatedAt = noon.AddDate(0, 0, 1)
	odd.Model, odd.Provider, odd.Key, odd.KeyHash, odd.Status = "test/echo", "test", "prod", strings.Repeat("cd", 32), 502
	log.Append(odd)
	foreign := record(5)
	foreign.Tenant = "other"
	log.Append(foreign)
	for _, tt := range []struct {
		f    activity.Filter
		want string
	}{
		{activity.Filter{}, "4 3 2 1 0"},
		{activity.Filter{Limit: 2}, "4 3"},
		{activity.Filter{RequestID: "req-2"}, "2"},
		{activity.Filter{RequestID: "req-5"}, ""},
		{activity.Filter{RequestID: "req-2", Status: 502}, ""},
		{activity.Filter{Date: "2026-05-04"}, "3 2 1 0"},
		{activity.Filter{Date: "2026-05-05"}, "4"},
		{activity.Filter{From: noon.Add(time.Second), To: noon.Add(3 * time.Second)}, "2 1"},
		{activity.Filter{Date: "2026-05-05", To: noon}, ""},
		{activity.Filter{Model: "test/echo"}, "4"},
		{activity.Filter{Provider: "openai"}, "3 2 1 0"},
		{activity.Filter{Key: "prod"}, "4"},
		{activity.Filter{KeyHash: strings.Repeat("cd", 32)}, "4"},
		{activity.Filter{Status: 502}, "4"},
		{activity.Filter{Model: "' OR 1=1 --"}, ""},
	} {
		tt.f.Tenant = "default"
		if got := ids(query(t, log, tt.f).Records); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.f, got, tt.want)
		}
	}
	for _, f := range []activity.Filter{
		{},
		{Tenant: "default", Limit: -1},
		{Tenant: "default", Limit: 1001},
		{Tenant: "default", Date: "today"},
		{Tenant: "default", To: time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		var bad *activity.ParamError
		if _, err := log.Query(context.Background(), f); !errors.As(err, &bad) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if _, err := log.Query(context.Background(), activity.Filter{Tenant: "default", Cursor: "x"}); !errors.Is(err, activity.ErrBadCursor) {
		t.Errorf("a bad cursor: %v", err)
	}
}

func TestPagesAreStableUnderInserts(t *testing.T) {
	_, log := open(t, store.Options{CommitInterval: time.Millisecond})
	const before = 140
	for i := range before {
		r := record(i)
		r.CreatedAt = noon.Add(time.Duration(i/7) * time.Second) // equal times: their order is that of writing
		log.Append(r)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(stop)
	f := activity.Filter{Tenant: "default", Limit: 7}
	page := query(t, log, f)
	wg.Go(func() { // newer ones, and calls that began long ago and end now
		for i := before; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			r := record(i)
			if i%2 == 0 {
				r.CreatedAt = noon.Add(time.Duration(i%40)*time.Second + time.Nanosecond)
			}
			log.Append(r)
			if i%50 == 0 {
				if _, _, err := log.Find(context.Background(), "default", r.ID); err != nil {
					t.Error(err)
				}
			}
		}
	})
	seen := map[string]int{}
	last := page.Records[0]
	for {
		for _, r := range page.Records {
			if seen[r.ID]++; r.CreatedAt.After(last.CreatedAt) {
				t.Fatalf("%s out of order", r.ID)
			}
			last = r
		}
		if page.Next == "" {
			break
		}
		f.Cursor = page.Next
		page = query(t, log, f)
	}
	for i := range before {
		if n := seen[record(i).ID]; n != 1 {
			t.Errorf("record %d was seen %d times", i, n)
		}
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s was seen %d times", id, n)
		}
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
		{Date: "2026-05-04", Model: "openai/dear", Provider: "openai", Sums: activity.Sums{Requests: 1, PromptTokens: 10, CompletionTokens: 20, ReasoningTokens: 5, CachedTokens: 3, CostNano: 1 << 53}},
		{Date: "2026-05-04", Model: "openai/gpt", Provider: "openai", Sums: activity.Sums{Requests: 3, PromptTokens: 30, CompletionTokens: 60, ReasoningTokens: 15, CachedTokens: 9, CostNano: 4_500_000_000}},
		{Date: "2026-05-03", Model: "openai/gpt", Provider: "second", Sums: activity.Sums{Requests: 1, Unpriced: 1, PromptTokens: 10, CompletionTokens: 20, ReasoningTokens: 5, CachedTokens: 3, CostNano: 1_500_000_000}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := log.Daily(context.Background(), activity.Filter{}); err == nil {
		t.Error("no tenant is taken for all tenants")
	}
	log.SetMaxDays(2)
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
