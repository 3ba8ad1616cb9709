package activitytest

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

func filters(t *testing.T, log activity.Log) {
	for i := range 4 {
		log.Append(Call(i))
	}
	odd := Call(4)
	odd.CreatedAt = Noon.AddDate(0, 0, -1)
	odd.Model, odd.Provider, odd.Key, odd.KeyHash, odd.Status, odd.Code = "test/echo", "test", "prod", strings.Repeat("cd", 32), 502, "upstream_error"
	odd.Latency, odd.Workstation, odd.Family, odd.TraceID = time.Minute, "desk2", "mcp", strings.Repeat("cd", 16)
	odd.EndUser, odd.App = "customer-8", "Other"
	log.Append(odd)
	foreign := Call(5)
	foreign.Tenant = "other"
	log.Append(foreign)
	for _, tt := range []struct {
		f    activity.Filter
		want string
	}{
		{activity.Filter{}, "3 2 1 0 4"},
		{activity.Filter{Limit: 2}, "3 2"},
		{activity.Filter{RequestID: "req-2"}, "2"},
		{activity.Filter{RequestID: "req-5"}, ""},
		{activity.Filter{RequestID: "req-2", Status: 502}, ""},
		{activity.Filter{RequestID: "req-2", To: Noon}, ""},
		{activity.Filter{Date: "2026-05-04"}, "3 2 1 0"},
		{activity.Filter{Date: "2026-05-03"}, "4"},
		{activity.Filter{From: Noon.Add(time.Second), To: Noon.Add(3 * time.Second)}, "2 1"},
		{activity.Filter{Date: "2026-05-03", From: Noon}, ""},
		{activity.Filter{Model: "test/echo"}, "4"},
		{activity.Filter{Model: "test"}, ""},
		{activity.Filter{Provider: "openai"}, "3 2 1 0"},
		{activity.Filter{Key: "prod"}, "4"},
		{activity.Filter{KeyHash: strings.Repeat("cd", 32)}, "4"},
		{activity.Filter{Status: 502}, "4"},
		{activity.Filter{Status: 200}, "3 2 1 0"},
		{activity.Filter{Code: "upstream_error"}, "4"}, // also a code of an attempt of the others
		{activity.Filter{Code: activity.AnyCode}, "4"},
		{activity.Filter{Code: activity.AnyCode, Status: 200}, ""},
		{activity.Filter{Code: activity.UpstreamFailures}, "4"},
		{activity.Filter{Workstation: "desk2"}, "4"},
		{activity.Filter{Family: "mcp"}, "4"},
		{activity.Filter{Family: "openai"}, "3 2 1 0"},
		{activity.Filter{TraceID: strings.Repeat("cd", 16)}, "4"},
		{activity.Filter{TraceID: strings.Repeat("cd", 15)}, ""},
		{activity.Filter{EndUser: "customer-8"}, "4"},
		{activity.Filter{EndUser: "customer"}, ""},
		{activity.Filter{App: "Acme Chat"}, "3 2 1 0"},
		{activity.Filter{Model: activity.AnyCode}, ""},
		{activity.Filter{Model: activity.UpstreamFailures}, ""},
		{activity.Filter{MinLatency: time.Second}, "4"},
		{activity.Filter{Model: "' OR 1=1 --"}, ""},
	} {
		tt.f.Tenant = "default"
		if got := IDs(Query(t, log, tt.f).Records); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.f, got, tt.want)
		}
	}
	if got := IDs(Query(t, log, activity.Filter{AllTenants: true, RequestID: "req-5"}).Records); got != "5" {
		t.Errorf("a request of all tenants: %q", got)
	}
}
