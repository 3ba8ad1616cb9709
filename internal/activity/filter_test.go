package activity_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

func TestParseFilter(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	day := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	for query, want := range map[string]activity.Filter{
		"":                                  {},
		"unknown=1&unknown=2&x=":            {},
		"user_id=&workspace_id=w&user_id=u": {},
		"request_id=r&model=a/b:c&provider=p&key=k&status=429&limit=1": {RequestID: "r", Model: "a/b:c", Provider: "p", Key: "k", Status: 429, Limit: 1},
		"trace_id=t&code=*&workstation=w&family=f":                     {TraceID: "t", Code: "*", Workstation: "w", Family: "f"},
		"api_key_hash=" + strings.ToUpper(hash):                        {KeyHash: hash},
		"date=2026-05-04&limit=1000":                                   {Date: "2026-05-04", Limit: 1000},
		"from=2026-05-04&to=2026-05-04":                                {From: day, To: day.AddDate(0, 0, 1)},
		"from=2026-05-04T02:00:00%2B02:00&to=1777852801":               {From: day, To: day.Add(time.Second)},
		"from=0&to=9223286400":                                         {From: time.Unix(0, 0).UTC(), To: time.Date(2262, 4, 11, 0, 0, 0, 0, time.UTC)},
		"group_by=day":                                                 {Daily: true},
		"group_by=workspace":                                           {Daily: true},
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := activity.ParseFilter(q); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", query, got, err)
		}
	}
}

func TestParseFilterNamesTheBadParameter(t *testing.T) {
	for param, values := range map[string][]string{
		"request_id":   {"", strings.Repeat("x", 1000)},
		"api_key_hash": {"abc", strings.Repeat("zz", 32), strings.Repeat("ab", 31)},
		"status":       {"ok", "99", "600", "2e2"},
		"date":         {"", "today", "2026-5-4", "2026-02-30", "1969-12-31", "9999-12-31", "2026-05-04T00:00:00Z"},
		"from":         {"-1", "9223286401", "9999999999999", "2900-01-01T00:00:00Z", "2900-01-01", "noon", "1e3"},
		"to":           {"0001-01-01", "2026-05-04 00:00:00"},
		"limit":        {"0", "-1", "1001", "ten", "99999999999999999999"},
		"cursor":       {"x", "AAAA", "====", strings.Repeat("A", 344)},
		"group_by":     {"", "model", "Day"},
	} {
		for _, v := range values {
			_, err := activity.ParseFilter(url.Values{param: {v}})
			var bad *activity.ParamError
			if !errors.As(err, &bad) || bad.Param != param || bad.Reason == "" {
				t.Errorf("%s=%.30q: %v", param, v, err)
			}
			if got := errors.Is(err, activity.ErrBadCursor); got != (param == "cursor") {
				t.Errorf("%s=%.30q is ErrBadCursor: %v", param, v, got)
			}
		}
	}
	for _, q := range []url.Values{
		{"key": {"a", "b"}},
		{"from": {"2026-05-05"}, "to": {"2026-05-03"}},
	} {
		if _, err := activity.ParseFilter(q); err == nil {
			t.Errorf("%v is taken", q)
		}
	}
}

// FuzzParseFilter checks that an accepted filter can be queried, and that the answer belongs to the
// tenant.
func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{"", "date=2026-05-04&limit=3", "from=0&to=2262-04-10&status=200", "cursor=AQAAAAAAAAAAAAAAAAAAAAE", "request_id=%00%ff", "from=2262-04-11T00:00:00Z"} {
		f.Add(s)
	}
	st, err := store.Open(f.TempDir(), store.Options{Schemas: []store.Schema{sqliteactivity.Schema}})
	if err != nil {
		f.Fatal(err)
	}
	defer st.Close()
	log := sqliteactivity.New(st)
	for i, tenant := range []string{"default", "other"} {
		r := activitytest.Call(i)
		r.Tenant = tenant
		log.Append(r)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		filter, err := activity.ParseFilter(q)
		if err != nil {
			var bad *activity.ParamError
			if !errors.As(err, &bad) || !q.Has(bad.Param) {
				t.Fatalf("%v names nothing of %v", err, q)
			}
			return
		}
		filter.Tenant = "default"
		page, err := log.Query(context.Background(), filter)
		if err != nil {
			t.Fatalf("%v parses, but: %v", q, err)
		}
		for _, r := range page.Records {
			if r.Tenant != "default" {
				t.Fatalf("%v shows %q", q, r.Tenant)
			}
		}
	})
}
