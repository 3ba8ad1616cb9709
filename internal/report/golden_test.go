package report

import (
	"encoding/json"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// everyField has a value in each field, also in those that no call has together.
var everyField = activity.Record{
	ID: "gen-0", RequestID: "req_0", ClientRequestID: "mine <&>", UpstreamID: "resp_0", CreatedAt: noon.Add(123456789), Tenant: "acme", Key: "dev",
	KeyHash: strings.Repeat("cd", 32), User: "ada@example.com", EndUser: "customer-7", App: "Acme Chat", Family: "openai", Route: "POST /v1/responses", Model: "=a\"b", Provider: "router",
	UpstreamModel: "b", Status: 502, Code: "upstream_error", Stream: true, RefusedBy: "key dev: rate 10/min", Latency: 1234567 * time.Microsecond,
	FirstToken: 1500 * time.Microsecond, Queued: 250 * time.Microsecond, Overhead: 125 * time.Microsecond, TraceID: strings.Repeat("0a", 16),
	FinishReason: "stop", NativeFinishReason: "end_turn", PromptTokens: 1, CompletionTokens: 2, ReasoningTokens: 3, CachedTokens: 4,
	UsageSource: activity.UsageEstimated, CostNano: 1_000_000_500, Priced: true, Attempts: 2,
	Attempted: []activity.Attempt{{Target: "router/b@eu", Status: 500, Code: "server_error", Latency: 2 * time.Millisecond}},
	Skipped:   []activity.Skipped{{Target: "router/b@us", Code: "cooling"}, {Target: "other/b", Code: "cannot_be_priced", RefusedBy: "key dev: budget 1usd/day"}},
	OutputCap: 100, Workstation: "lab1", Ended: "viewer_left", BytesUp: 5, BytesDown: 6,
	Method: "tools/call", IsError: true, RequestBytes: 7, AnswerBytes: 8,
}

// The names, the order and the presence of members and columns are promised to programs.
func TestARowLooksTheSame(t *testing.T) {
	log, _ := newLog(t, everyField, activity.Record{ID: "gen-9", Tenant: "acme", CreatedAt: noon})
	var got strings.Builder
	for _, q := range []string{"", "all", "id=gen-0", "id=gen-9", "format=csv"} {
		see := (&keys.Key{Tenant: "acme"}).Tenants
		if q == "all" {
			see = keys.EveryTenant
		}
		values, err := url.ParseQuery(strings.TrimPrefix(q, "all"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := Activity(t.Context(), log, Query{Values: values, See: see})
		if err != nil {
			t.Fatal(q, err)
		}
		got.Write(answer.JSON)
		if answer.CSV != nil {
			if err := answer.CSV.Write(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
		}
		got.WriteString("\n")
	}
	for _, id := range []string{"gen-0", "gen-9"} {
		generation, err := Generation(t.Context(), log, "acme", id)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(append(generation, '\n'))
	}
	want, err := os.ReadFile("testdata/rows.golden")
	if is := strings.ReplaceAll(got.String(), "\r\n", "\\r\n"); err != nil || is != string(want) {
		t.Errorf("%v, got\n%s\nwant\n%s", err, is, want)
	}
}

// What JSON says of a row is read back, as the console and the commands do.
func TestTheJSONOfARowIsReadBack(t *testing.T) {
	log, _ := newLog(t, everyField)
	got, err := query(t, log, "acme", "id=gen-0")
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Data []activity.Record }
	if err := json.Unmarshal(got, &answer); err != nil {
		t.Fatal(err)
	}
	want := everyField
	want.CreatedAt = want.CreatedAt.Truncate(time.Millisecond)
	want.Latency, want.FirstToken = want.Latency.Truncate(time.Millisecond), want.FirstToken.Truncate(time.Millisecond)
	if len(answer.Data) != 1 || !reflect.DeepEqual(answer.Data[0], want) {
		t.Errorf("got  %+v\nwant %+v", answer.Data, want)
	}
}
