package handlers

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// What a call leaves is found under each of its names, by its own tenant.
func TestACallIsReported(t *testing.T) {
	budget, err := limits.ParseBudget("1usd/day")
	must(t, err)
	g := startGateway(t, setup{
		provider: answering(200, "application/json", completion), limits: limitedTo("full", limits.Subject{Budgets: []limits.Budget{budget}}),
	})
	made := call(t, g, "POST", "/api/v1/chat/completions", "full", hello)
	made.want(t, 200, "", "")
	generation, id := made.Header().Get(api.GenerationIDHeader), made.Header().Get(api.RequestIDHeader)

	a := call(t, g, "GET", "/api/v1/activity", "full", "")
	if a.at(t, "data", 0, "id") != generation || a.at(t, "data", 0, "usage") != 0.00002 || a.at(t, "data", 1) != nil {
		t.Errorf("activity: %d %s", a.Code, a.Body)
	}
	a = call(t, g, "GET", "/api/v1/activity?group_by=day", "full", "")
	if a.at(t, "data", 0, "date") != "2026-03-18" || a.at(t, "data", 0, "requests") != 1.0 || a.at(t, "data", 0, "id") != nil {
		t.Errorf("by day: %d %s", a.Code, a.Body)
	}
	for _, name := range []string{generation, id, "chatcmpl-1"} {
		if a = call(t, g, "GET", "/api/v1/generation?id="+name, "full", ""); a.at(t, "data", "id") != generation {
			t.Errorf("generation %s: %d %s", name, a.Code, a.Body)
		}
	}
	a = call(t, g, "GET", "/api/v1/key", "full", "")
	if a.at(t, "data", "label") != "full" || a.at(t, "data", "usage_daily") != 0.00002 || a.at(t, "data", "limit") != 1.0 ||
		a.at(t, "data", "budgets", 0, "period") != "day" {
		t.Errorf("key: %d %s", a.Code, a.Body)
	}

	if a = call(t, g, "GET", "/api/v1/activity", "other", ""); a.at(t, "data", 0) != nil {
		t.Errorf("another tenant's activity: %s", a.Body)
	}
	call(t, g, "GET", "/api/v1/generation?id="+generation, "other", "").want(t, 404, "not_found", "no generation with id")
	if a = call(t, g, "GET", "/api/v1/key", "other", ""); a.at(t, "data", "usage") != 0.0 || a.at(t, "data", "limit") != nil {
		t.Errorf("another tenant's key: %s", a.Body)
	}
	call(t, g, "GET", "/api/v1/key", "chat", "").want(t, 200, "", "") // any valid key
	if older := call(t, g, "GET", "/api/v1/auth/key", "other", ""); older.Body.String() != a.Body.String() {
		t.Errorf("by the older name: %s", older.Body)
	}
	call(t, g, "GET", "/api/v1/generation", "full", "").want(t, 400, "invalid_request", "id is missing")
}

func TestAStoreThatCannotAnswerIs503(t *testing.T) {
	budget, err := limits.ParseBudget("1usd/day")
	must(t, err)
	state := gateway.NewState(t.TempDir(), func() time.Time { return noon })
	g := startGateway(t, setup{state: state, limits: limitedTo("full", limits.Subject{Budgets: []limits.Budget{budget}})})
	must(t, state.Close())
	for _, target := range []string{"/api/v1/activity", "/api/v1/generation?id=x", "/api/v1/key"} {
		a := call(t, g, "GET", target, "full", "")
		if a.want(t, 503, "provider_overloaded", "now"); a.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %v", target, a.Header())
		}
	}
}
