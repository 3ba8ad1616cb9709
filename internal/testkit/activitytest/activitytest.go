// Package activitytest tests any [activity.Log] for what its callers rely on.
//
//	activitytest.Run(t, func(t *testing.T) activity.Log { … })
package activitytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// Noon is the time of the records: they are of this day and the four days before it.
var Noon = time.Date(2026, 5, 4, 12, 0, 0, 123456789, time.UTC)

// Run runs all tests. Open returns an empty log, which keeps at least five days before Noon and ends
// with the test.
func Run(t *testing.T, open func(t *testing.T) activity.Log) {
	for name, test := range map[string]func(*testing.T, activity.Log){
		"every field survives":               fields,
		"records are found by their ids":     find,
		"an id is found in all tenants":      findAny,
		"an id that all answers have":        sameUpstream,
		"filters":                            filters,
		"filters of bytes that text refuses": oddNames,
		"pages are stable under inserts":     pages,
		"pages of all tenants":               allTenants,
		"daily sums":                         daily,
		"names that no provider has":         invented,
		"sums are those of the rows":         sums,
		"sums of calls in disorder":          disorder,
		"sums by the minute":                 minutes,
		"sums by what callers say":           said,
		"sums of all errors":                 anyCode,
		"old sums for those who allow it":    oldSums,
		"a rebuild changes nothing":          rebuild,
		"peers' sizes are bounded":           bounds,
		"queries that are refused":           refused,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// Call is the n-th call, a second after the previous one.
func Call(n int) *activity.Record {
	return &activity.Record{
		ID: fmt.Sprintf("gen-%d", n), RequestID: fmt.Sprintf("req-%d", n), ClientRequestID: "mine", UpstreamID: fmt.Sprintf("chatcmpl-%d", n),
		CreatedAt: Noon.Add(time.Duration(n) * time.Second), Tenant: "default", Key: "dev", User: "ada@example.com", EndUser: "customer-7", App: "Acme Chat", KeyHash: strings.Repeat("ab", 32),
		Transport: "websocket", Connection: "req_0",
		Family: "openai", Route: "POST /v1/chat/completions", Model: "openai/gpt", Provider: "openai", UpstreamModel: "gpt",
		Status: 200, Stream: true, Latency: 1234567 * time.Nanosecond, FirstToken: 345 * time.Microsecond,
		FinishReason: "stop", NativeFinishReason: "end_turn", PromptTokens: 10, CompletionTokens: 20, ReasoningTokens: 5, CachedTokens: 3,
		UsageSource: activity.UsageProvider, CostNano: 1_500_000_000, Priced: true, Attempts: 2, OutputCap: 4096,
		Attempted:   []activity.Attempt{{Target: "acme/m@eu", Status: 503, Code: "upstream_error", Latency: time.Second}, {Target: "acme/m", Status: 200}},
		Skipped:     []activity.Skipped{{Target: "acme/n", Code: "cooling"}, {Target: "other/m", Code: "rate_limit_exceeded", RefusedBy: "rate 1/min"}},
		Workstation: "desk1", Ended: "released", BytesUp: 123, BytesDown: 1 << 40,
		RefusedBy: "key dev: rate 10/min", Queued: 3 * time.Millisecond, Overhead: 400 * time.Microsecond,
		Units:   units.Counts{1, 2, 3, 4, 5, 6, 7, 8},
		TraceID: "0af7651916cd43dd8448eb211c80319c",
		Method:  "tools/call", IsError: true, RequestBytes: 321, AnswerBytes: 54321, Role: "agent", Actions: 12, Screenshots: 7, Typed: 90, Recording: "vnc-0123456789abcdef",
	}
}

// IDs returns the numbers of records of Call, in their order.
func IDs(records []activity.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, strings.TrimPrefix(r.ID, "gen-"))
	}
	return strings.Join(all, " ")
}

// Query returns a page.
func Query(t testing.TB, log activity.Log, f activity.Filter) activity.Page {
	t.Helper()
	page, err := log.Query(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// All returns the records that a filter selects, page after page.
func All(t testing.TB, log activity.Log, f activity.Filter) (all []*activity.Record) {
	t.Helper()
	if f.Limit == 0 {
		f.Limit = activity.MaxLimit
	}
	for page := Query(t, log, f); ; page = Query(t, log, f) {
		for i := range page.Records {
			all = append(all, &page.Records[i])
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			return all
		}
	}
}

func fields(t *testing.T, log activity.Log) {
	full := *Call(1)
	for i, v := 0, reflect.ValueOf(full); i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Code" {
			t.Fatalf("the fixture leaves %s zero, so this test shows nothing for it", name)
		}
	}
	refused := activity.Record{ID: "gen-2", Tenant: "default", CreatedAt: Noon, Status: 429, Code: "rate_limit_exceeded", UsageSource: activity.UsageNone}
	for _, r := range []activity.Record{full, refused} {
		log.Append(&r)
		got, ok, err := log.Find(context.Background(), "default", r.ID)
		if err != nil || !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("got %+v, %v, %v", got, ok, err)
		}
	}
}

func find(t *testing.T, log activity.Log) {
	const n = 1100
	for i := range n {
		r := Call(i)
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

func findAny(t *testing.T, log activity.Log) {
	for i := range 10 {
		r := Call(i)
		r.Tenant = fmt.Sprint("tenant", i%3)
		log.Append(r)
	}
	for _, id := range []string{"gen-4", "req-4", "chatcmpl-4"} {
		r, ok, err := log.FindAny(context.Background(), id)
		if err != nil || !ok || r.ID != "gen-4" || r.Tenant != "tenant1" {
			t.Errorf("%s: %q of %q, %v, %v", id, r.ID, r.Tenant, ok, err)
		}
	}
	if _, ok, err := log.FindAny(context.Background(), "gen-10"); ok || err != nil {
		t.Errorf("an id of nothing: %v, %v", ok, err)
	}
}

func sameUpstream(t *testing.T, log activity.Log) {
	for i := range 3000 {
		r := Call(i)
		r.UpstreamID = "same"
		log.Append(r)
	}
	if r, ok, err := log.FindAny(context.Background(), "same"); err != nil || !ok || r.ID != "gen-2999" {
		t.Errorf("found %q, %v, %v", r.ID, ok, err)
	}
}

func oddNames(t *testing.T, log activity.Log) {
	for i, model := range []string{"a\x00b", "\xff\xfe", "é", "%", "_", `\`} {
		r := Call(i)
		r.Model = model
		log.Append(r)
		if got := IDs(Query(t, log, activity.Filter{Tenant: "default", Model: model}).Records); got != fmt.Sprint(i) {
			t.Errorf("model %q: %q", model, got)
		}
	}
	days, err := log.Daily(context.Background(), activity.Filter{Tenant: "default", Model: "a\x00b"})
	if err != nil || len(days) != 1 || days[0].Requests != 1 {
		t.Errorf("the days of such a model are %v, %v", days, err)
	}
}

func bounds(t *testing.T, log activity.Log) {
	r := Call(1)
	r.Model = strings.Repeat("é", 5000)
	r.UpstreamID = "x" + strings.Repeat("é", 5000)
	r.PromptTokens, r.CachedTokens, r.CostNano = 1<<62, -1, 1<<62
	r.CreatedAt = time.Time{}
	long := strings.Repeat("é", 5000)
	r.Attempted = slices.Repeat([]activity.Attempt{{Target: long}}, 20)
	r.Skipped = slices.Repeat([]activity.Skipped{{Target: long, RefusedBy: long}}, 20)
	log.Append(r)
	got := Query(t, log, activity.Filter{Tenant: "default"}).Records[0]
	if got.Model != strings.Repeat("é", 128) || got.UpstreamID != "x"+strings.Repeat("é", 127) {
		t.Errorf("texts of %d and %d bytes", len(got.Model), len(got.UpstreamID))
	}
	short := strings.Repeat("é", 128)
	if len(got.Attempted) != 16 || got.Attempted[15].Target != short {
		t.Errorf("attempted %+v", got.Attempted)
	}
	if len(got.Skipped) != 16 || got.Skipped[15] != (activity.Skipped{Target: short, RefusedBy: short}) {
		t.Errorf("skipped %+v", got.Skipped)
	}
	if got.PromptTokens != 1<<36 || got.CachedTokens != 0 || got.CostNano != 1<<53 {
		t.Errorf("got %+v", got)
	}
}

func refused(t *testing.T, log activity.Log) {
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
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := log.Query(ctx, activity.Filter{Tenant: "default"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that left: %v", err)
	}
}
