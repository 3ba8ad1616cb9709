package report

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestActivityFindsARowByEachOfItsIDs(t *testing.T) {
	call := fullCall
	call.User, call.TraceID = "ada@example.com", "0af7651916cd43dd8448eb211c80319c"
	log, _ := newLog(t, call, session, refused)
	for _, id := range []string{"gen-1", "req_1", "chatcmpl-1", "resp_1"} {
		got, err := query(t, log, "acme", "id="+id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		wantJSON(t, got, `{"data":[
			{"date":"2026-03-17","model":"router/a/b","model_permaslug":"a/b","endpoint_id":"router/a/b","provider_name":"router",
			 "usage":0.0015,"byok_usage_inference":0,"requests":1,"prompt_tokens":11,"completion_tokens":22,"reasoning_tokens":3,"cached_tokens":4,
			 "id":"gen-1","request_id":"req_1","created_at":"2026-03-17T12:00:00.000Z","key":"dev","route":"POST /v1/chat/completions","status":200,
			 "code":null,"stream":true,"latency_ms":1500,"first_token_ms":250,"finish_reason":"stop","usage_source":"provider","priced":true,"attempts":2,
			 "attempted":[{"target":"router/a/b@eu","status":null,"code":"timeout_first_byte","latency_ms":1000},
			  {"target":"router/a/b@us","status":200,"code":null,"latency_ms":500}],"output_cap":100,
			 "tenant":"acme","trace_id":"0af7651916cd43dd8448eb211c80319c","user":"ada@example.com",
			 "upstream_id":"chatcmpl-1","client_request_id":"mine","api_key_hash":"`+strings.Repeat("ab", 32)+`","family":"openai","upstream_model":"a/b",
			 "native_finish_reason":"end_turn"}],"next_cursor":null}`)
	}
	for id, want := range map[string]string{"vnc-1": `"ended":"viewer_left"`, "gen-2": `"upstream_id":null,"client_request_id":null,"api_key_hash":""`} {
		if got, err := query(t, log, "acme", "id="+id); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v", id, got, err)
		}
	}
	if got, err := query(t, log, "acme", "id=gen-1&limit=10"); err != nil || !jsontest.Has(t, got, `{"id":"gen-1"}`) {
		t.Errorf("with a limit: %s, %v", got, err)
	}
	for tenant, q := range map[string]string{"acme": "id=gen-9", "other": "id=gen-1", "thirds": "id=gen-1&tenant=acme"} {
		if got, err := query(t, log, tenant, q); err != nil || string(got) != `{"data":[],"next_cursor":null}` {
			t.Errorf("%s of %s: %s, %v", q, tenant, got, err)
		}
	}
	for q, param := range map[string]string{
		"id=": "id", "id=" + strings.Repeat("x", 257): "id", "id=a&id=b": "id", "id=gen-1&model=m": "model", "id=gen-1&limit=0": "limit",
	} {
		_, err := query(t, log, "acme", q)
		wantRefusal(t, err, apierror.InvalidValue, param, param+": ")
	}
}

func TestAnOperatorFindsARowOfAnyTenant(t *testing.T) {
	log, _ := newLog(t, fullCall, session, refused)
	find := func(q url.Values) Answer {
		answer, err := Activity(t.Context(), log, Query{Values: q, See: keys.EveryTenant})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if got := find(url.Values{"id": {"chatcmpl-1"}}).JSON; !jsontest.Has(t, got, `{"tenant":"acme"}`) {
		t.Errorf("%s", got)
	}
	if got := find(url.Values{"id": {"chatcmpl-1"}, "tenant": {"other"}}).JSON; string(got) != `{"data":[],"next_cursor":null}` {
		t.Errorf("%s", got)
	}
}

func TestOneRowIsCSVToo(t *testing.T) {
	call := fullCall
	call.User = "=ada"
	log, _ := newLog(t, call)
	for id, rows := range map[string]int{"req_1": 1, "req_9": 0} {
		answer, err := Activity(t.Context(), log, Query{Values: url.Values{"id": {id}, "format": {"csv"}}, See: (&keys.Key{Tenant: "acme"}).Tenants})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := answer.CSV.Write(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\r\n"), "\r\n")
		if len(lines) != 1+rows || !strings.Contains(lines[0], ",user,") || rows > 0 && !strings.Contains(lines[1], ",'=ada,") {
			t.Errorf("%q", lines)
		}
	}
}

func TestTheIDOfAClosedStoreIs503(t *testing.T) {
	log, st := newLog(t, activity.Record{ID: "gen-1", Tenant: "acme"})
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := query(t, log, "acme", "id=gen-1")
	wantRefusal(t, err, apierror.LedgerUnavailable, "", "cannot answer now")
}
