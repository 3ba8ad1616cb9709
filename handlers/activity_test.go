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
		Provider: answering(200, "application/json", completion), Limits: limitedTo("full", limits.Subject{Budgets: []limits.Budget{budget}}),
	})
	made := call(t, g, "POST", "/api/v1/chat/completions", "full", hello)
	made.Want(t, 200, "", "")
	generation, id := made.Header().Get(api.GenerationIDHeader), made.Header().Get(api.RequestIDHeader)

	a := call(t, g, "GET", "/api/v1/activity", "full", "")
	if a.At(t, "data", 0, "id") != generation || a.At(t, "data", 0, "usage") != 0.00002 || a.At(t, "data", 1) != nil {
		t.Errorf("activity: %d %s", a.Code, a.Body)
	}
	a = call(t, g, "GET", "/api/v1/activity?group_by=day", "full", "")
	if a.At(t, "data", 0, "date") != "2026-03-18" || a.At(t, "data", 0, "requests") != 1.0 || a.At(t, "data", 0, "id") != nil {
		t.Errorf("by day: %d %s", a.Code, a.Body)
	}
	for _, name := range []string{generation, id, "chatcmpl-1"} {
		if a = call(t, g, "GET", "/api/v1/generation?id="+name, "full", ""); a.At(t, "data", "id") != generation {
			t.Errorf("generation %s: %d %s", name, a.Code, a.Body)
		}
	}
	a = call(t, g, "GET", "/api/v1/key", "full", "")
	if a.At(t, "data", "label") != "full" || a.At(t, "data", "usage_daily") != 0.00002 || a.At(t, "data", "limit") != 1.0 ||
		a.At(t, "data", "budgets", 0, "period") != "day" {
		t.Errorf("key: %d %s", a.Code, a.Body)
	}

	if a = call(t, g, "GET", "/api/v1/activity", "other", ""); a.At(t, "data", 0) != nil {
		t.Errorf("another tenant's activity: %s", a.Body)
	}
	call(t, g, "GET", "/api/v1/generation?id="+generation, "other", "").Want(t, 404, "not_found", "no generation with id")
	if a = call(t, g, "GET", "/api/v1/key", "other", ""); a.At(t, "data", "usage") != 0.0 || a.At(t, "data", "limit") != nil {
		t.Errorf("another tenant's key: %s", a.Body)
	}
	call(t, g, "GET", "/api/v1/key", "chat", "").Want(t, 200, "", "") // any valid key
	if older := call(t, g, "GET", "/api/v1/auth/key", "other", ""); older.Body.String() != a.Body.String() {
		t.Errorf("by the older name: %s", older.Body)
	}
	call(t, g, "GET", "/api/v1/generation", "full", "").Want(t, 400, "invalid_request", "id is missing")
}

func TestAStoreThatCannotAnswerIs503(t *testing.T) {
	budget, err := limits.ParseBudget("1usd/day")
	must(t, err)
	state := gateway.NewState(t.TempDir(), func() time.Time { return noon })
	g := startGateway(t, setup{State: state, Limits: limitedTo("full", limits.Subject{Budgets: []limits.Budget{budget}})})
	must(t, state.Close())
	for _, target := range []string{"/api/v1/activity", "/api/v1/generation?id=x", "/api/v1/key"} {
		a := call(t, g, "GET", target, "full", "")
		if a.Want(t, 503, "provider_overloaded", "now"); a.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %v", target, a.Header())
		}
	}
}
