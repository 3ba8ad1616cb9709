package report

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// Records of tenant acme: a call with all that a call can have, a session, and a refusal with
// nothing.
var (
	fullCall = activity.Record{
		ID: "gen-1", RequestID: "req_1", ClientRequestID: "mine", UpstreamID: "chatcmpl-1", CreatedAt: noon.Add(-24 * time.Hour), Tenant: "acme", Key: "dev",
		KeyHash: strings.Repeat("ab", 32), Family: "openai", Route: "POST /v1/chat/completions", Model: "router/a/b", Provider: "router", UpstreamModel: "a/b",
		Status: 200, Stream: true, Latency: 1500 * time.Millisecond, FirstToken: 250 * time.Millisecond, FinishReason: "stop", NativeFinishReason: "end_turn",
		PromptTokens: 11, CompletionTokens: 22, ReasoningTokens: 3, CachedTokens: 4, UsageSource: activity.UsageProvider, CostNano: 1_500_000, Priced: true,
		Attempts: 2, OutputCap: 100,
		Attempted: []activity.Attempt{
			{Target: "router/a/b@eu", Code: "timeout_first_byte", Latency: time.Second}, {Target: "router/a/b@us", Status: 200, Latency: 500 * time.Millisecond},
		},
	}
	session = activity.Record{
		ID: "vnc-1", CreatedAt: noon.Add(-time.Hour), Tenant: "acme", Key: "dev", Route: "VNC", Status: 200, UsageSource: activity.UsageNone,
		Workstation: "lab1", Ended: "viewer_left", BytesUp: 5, BytesDown: 6,
	}
	refused = activity.Record{
		ID: "gen-2", RequestID: "req_2", CreatedAt: noon, Tenant: "acme", Key: "dev", Route: "POST /v1/responses", Model: "router/a/b", Provider: "router",
		Status: 499, Code: "client_closed_request", UsageSource: activity.UsageNone,
	}
)

func query(t *testing.T, log activity.Log, tenant, q string) ([]byte, error) {
	t.Helper()
	values, err := url.ParseQuery(q)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Activity(t.Context(), log, Query{Values: values, See: (&keys.Key{Tenant: tenant}).Tenants})
	return answer.JSON, err
}

func TestActivityShowsEachRequest(t *testing.T) {
	log, _ := newLog(t, fullCall, session, refused)
	got, err := query(t, log, "acme", "")
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"data":[
		{"date":"2026-03-18","model":"router/a/b","model_permaslug":"router/a/b","endpoint_id":"router/router/a/b","provider_name":"router",
		 "usage":0,"byok_usage_inference":0,"requests":1,"prompt_tokens":0,"completion_tokens":0,"reasoning_tokens":0,"cached_tokens":0,
		 "id":"gen-2","request_id":"req_2","created_at":"2026-03-18T12:00:00.000Z","key":"dev","route":"POST /v1/responses","status":499,
		 "code":"client_closed_request","stream":false,"latency_ms":0,"first_token_ms":null,"finish_reason":null,"usage_source":"none","priced":false,"attempts":0},
		{"date":"2026-03-18","model":"","model_permaslug":"","endpoint_id":"/","provider_name":"",
		 "usage":0,"byok_usage_inference":0,"requests":1,"prompt_tokens":0,"completion_tokens":0,"reasoning_tokens":0,"cached_tokens":0,
		 "id":"vnc-1","request_id":"","created_at":"2026-03-18T11:00:00.000Z","key":"dev","route":"VNC","status":200,
		 "code":null,"stream":false,"latency_ms":0,"first_token_ms":null,"finish_reason":null,"usage_source":"none","priced":false,"attempts":0,
		 "workstation":"lab1","ended":"viewer_left","bytes_up":5,"bytes_down":6},
		{"date":"2026-03-17","model":"router/a/b","model_permaslug":"a/b","endpoint_id":"router/a/b","provider_name":"router",
		 "usage":0.0015,"byok_usage_inference":0,"requests":1,"prompt_tokens":11,"completion_tokens":22,"reasoning_tokens":3,"cached_tokens":4,
		 "id":"gen-1","request_id":"req_1","created_at":"2026-03-17T12:00:00.000Z","key":"dev","route":"POST /v1/chat/completions","status":200,
		 "code":null,"stream":true,"latency_ms":1500,"first_token_ms":250,"finish_reason":"stop","usage_source":"provider","priced":true,"attempts":2,
		 "attempted":[{"target":"router/a/b@eu","status":null,"code":"timeout_first_byte","latency_ms":1000},
		  {"target":"router/a/b@us","status":200,"code":null,"latency_ms":500}],"output_cap":100}
		],"next_cursor":null}`)
	if got, err = query(t, log, "other", ""); err != nil || string(got) != `{"data":[],"next_cursor":null}` {
		t.Errorf("another tenant: %s, %v", got, err)
	}
}

func TestActivityHasPages(t *testing.T) {
	log, _ := newLog(t, fullCall, session, refused)
	var seen []string
	for q := "limit=1"; q != ""; {
		got, err := query(t, log, "acme", q)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, jsontest.String(t, got, "id"))
		cursor := jsontest.String(t, got, "next_cursor")
		if q = ""; cursor != "" {
			q = "limit=1&cursor=" + cursor
		}
	}
	if !slices.Equal(seen, []string{"gen-2", "vnc-1", "gen-1"}) {
		t.Errorf("saw %v", seen)
	}
}

func TestActivityByDayHasNoCalls(t *testing.T) {
	again := fullCall
	again.ID = "gen-3"
	log, _ := newLog(t, fullCall, again, refused)
	got, err := query(t, log, "acme", "group_by=day")
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, got, `{"data":[
		{"date":"2026-03-18","model":"router/a/b","model_permaslug":"router/a/b","endpoint_id":"router/router/a/b","provider_name":"router",
		 "usage":0,"byok_usage_inference":0,"requests":1,"prompt_tokens":0,"completion_tokens":0,"reasoning_tokens":0,"cached_tokens":0},
		{"date":"2026-03-17","model":"router/a/b","model_permaslug":"router/a/b","endpoint_id":"router/router/a/b","provider_name":"router",
		 "usage":0.003,"byok_usage_inference":0,"requests":2,"prompt_tokens":22,"completion_tokens":44,"reasoning_tokens":6,"cached_tokens":8}
		],"next_cursor":null}`)
	if got, err = query(t, log, "other", "group_by=day"); err != nil || string(got) != `{"data":[],"next_cursor":null}` {
		t.Errorf("another tenant: %s, %v", got, err)
	}
}

func TestActivityRefusesWhatItCannotRead(t *testing.T) {
	log, _ := newLog(t)
	for q, param := range map[string]string{"limit=0": "limit", "cursor=x": "cursor", "date=today": "date", "status=1": "status"} {
		_, err := query(t, log, "acme", q)
		wantRefusal(t, err, apierror.InvalidValue, param, param+": must be")
	}
	if params := ActivityParams(); len(params) != 24 || !slices.Contains(params, "group_by") || !slices.IsSorted(params) {
		t.Errorf("parameters %v", params)
	}
}

func TestAStoreThatCannotAnswerIs503(t *testing.T) {
	log, st := newLog(t, fullCall)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"", "group_by=day"} {
		_, err := query(t, log, "acme", q)
		wantRefusal(t, err, apierror.LedgerUnavailable, "", "cannot answer now")
		if errors.Unwrap(err) == nil {
			t.Error("the log gets no cause")
		}
	}
	_, err := Generation(t.Context(), log, "acme", "gen-1")
	wantRefusal(t, err, apierror.LedgerUnavailable, "", "cannot answer now")
	_, err = Key(t.Context(), log, newKey(), nil, nil, noon)
	wantRefusal(t, err, apierror.LedgerUnavailable, "", "cannot answer now")
}

func TestRefusals(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	log, _ := newLog(t, fullCall)
	_, err := Activity(gone, log, Query{See: keys.EveryTenant})
	wantRefusal(t, err, apierror.ClientGone, "", "the client left")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is lost: %v", err)
	}
	wantRefusal(t, refusal(fmt.Errorf("activity: %w", activity.ErrTooManyDays)), apierror.InvalidValue, "", "ask for fewer days")
	wantRefusal(t, refusal(context.DeadlineExceeded), apierror.LedgerUnavailable, "", "")
}

const nothing = `"app_id":null,"cache_discount":null,"http_referer":null,"moderation_latency":null,
	"native_tokens_completion_images":null,"num_fetches":null,"num_input_audio_prompt":null,"num_media_completion":null,"num_media_prompt":null,
	"num_search_results":null,"preset_id":null,"router":null,"service_tier":null,"upstream_inference_cost":null,"web_search_engine":null,"workspace_id":null`

func TestAGenerationIsFoundByEachOfItsIDs(t *testing.T) {
	log, _ := newLog(t, fullCall, refused)
	// resp_1 names the Response that a call with request id req_1 was translated to.
	for _, id := range []string{"gen-1", "req_1", "chatcmpl-1", "resp_1"} {
		got, err := Generation(t.Context(), log, "acme", id)
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		wantJSON(t, got, `{"data":{"id":"gen-1","upstream_id":"chatcmpl-1","request_id":"req_1","created_at":"2026-03-17T12:00:00.000Z",
			"model":"router/a/b","provider_name":"router","api_type":"completions","origin":"","data_region":"global","total_cost":0.0015,"usage":0.0015,
			"is_byok":false,"streamed":true,"cancelled":false,"finish_reason":"stop","native_finish_reason":"end_turn","latency":250,"generation_time":1500,
			"tokens_prompt":11,"tokens_completion":22,"native_tokens_prompt":11,"native_tokens_completion":22,"native_tokens_reasoning":3,
			"native_tokens_cached":4,"user_agent":null,"provider_responses":null,"external_user":null,
			"attempted":[{"target":"router/a/b@eu","status":null,"code":"timeout_first_byte","latency_ms":1000},
			 {"target":"router/a/b@us","status":200,"code":null,"latency_ms":500}],`+nothing+`}}`)
	}
	native := refused
	native.ID, native.UpstreamID = "gen-3", "resp_native" // the provider's own name of a Response
	log.Append(&native)
	got, err := Generation(t.Context(), log, "acme", "resp_native")
	if err != nil || !jsontest.Has(t, got, `{"id":"gen-3"}`) {
		t.Errorf("a Response that was not translated: %s, %v", got, err)
	}
	got, err = Generation(t.Context(), log, "acme", "gen-2")
	if err != nil || !jsontest.Has(t, got, `{"streamed":false,"cancelled":true}`) {
		t.Errorf("a call whose client left: %s, %v", got, err)
	}
}

func TestAnUnknownGenerationIs404(t *testing.T) {
	log, _ := newLog(t, fullCall)
	for _, id := range []string{"gen-9", "resp_9", "resp_", "req_", strings.Repeat("x", 256)} {
		_, err := Generation(t.Context(), log, "acme", id)
		wantRefusal(t, err, apierror.NotFound, "id", fmt.Sprintf("no generation with id %q", id))
	}
	_, err := Generation(t.Context(), log, "other", "gen-1")
	wantRefusal(t, err, apierror.NotFound, "id", "")
	for _, id := range []string{"", strings.Repeat("x", 257)} {
		_, err := Generation(t.Context(), log, "acme", id)
		wantRefusal(t, err, apierror.MissingParameter, "id", "missing or longer than 256 bytes")
	}
}
