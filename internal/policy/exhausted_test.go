package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestAUsedUpBudgetEmitsOneEventAPeriod(t *testing.T) {
	day := limits.Budget{Unit: limits.Tokens, Limit: 100, Period: limits.Daily}
	begins := time.Unix(1000, 0)
	refused := func(spent, amount int64, begins time.Time, b limits.Budget) *limits.Refusal {
		return &limits.Refusal{Balance: limits.Balance{Subject: "key:dev", Budget: b, Spent: spent, Begins: begins, ResetsAt: begins.Add(24 * time.Hour)}, Amount: amount}
	}
	larger := day
	larger.Limit = 200
	emitted := 0
	budgets := NewExhaustedBudgets(func(name string, data map[string]any) {
		if emitted++; name != "budget_exhausted" || data["subject"] != "key:dev" || data["resets_at"] == "" {
			t.Errorf("%s %v", name, data)
		}
	})
	for _, c := range []struct {
		name    string
		refusal *limits.Refusal
		emitted bool
	}{
		{"a large call says nothing", refused(50, 60, begins, day), false},
		{"a small call that does not fit", refused(95, 10, begins, day), true},
		{"the same period", refused(100, 1, begins, day), false},
		{"the next period", refused(100, 0, begins.Add(24*time.Hour), day), true},
		{"a budget that was raised", refused(200, 0, begins.Add(24*time.Hour), larger), true},
	} {
		emitted = 0
		e := budgets.Refusal(c.refusal)
		if (emitted == 1) != c.emitted || e.Code != apierror.BudgetExceeded || e.LimitSource != "key:dev" {
			t.Errorf("%s: %d events, %+v", c.name, emitted, e)
		}
	}
}

func TestABudgetThatIsNeverResetSaysSo(t *testing.T) {
	total := limits.Budget{Unit: limits.Tokens, Limit: 100, Period: limits.Total}
	var emitted map[string]any
	e := NewExhaustedBudgets(func(_ string, data map[string]any) { emitted = data }).Refusal(&limits.Refusal{Balance: limits.Balance{Subject: "key:dev", Budget: total, Spent: 100}})
	if _, resets := emitted["resets_at"]; resets || emitted == nil || !strings.Contains(e.Message, "it is never reset") {
		t.Errorf("%v: %s", emitted, e.Message)
	}
}
