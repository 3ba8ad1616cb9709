package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

func TestABudgetIsBelowOneAsLongAsItAllows(t *testing.T) {
	for used, want := range map[float64][3]string{
		0: {"0.00", "allowed", ""}, 0.5: {"0.50", "allowed", ""}, 0.75: {"0.75", "allowed", ""}, 0.754: {"0.75", "allowed_warning", "0.75"},
		0.95: {"0.95", "allowed_warning", "0.75"}, 0.96: {"0.96", "allowed_warning", "0.95"}, 0.9999: {"0.99", "allowed_warning", "0.95"}, 1.2: {"0.99", "allowed_warning", "0.95"},
	} {
		h := http.Header{}
		Anthropic{}.ShowBudget(h, &apierror.Budget{Used: used})
		if got := [3]string{h.Get(budgetPrefix + "Overage-Utilization"), h.Get(budgetPrefix + "Status"), h.Get(budgetPrefix + "Overage-Surpassed-Threshold")}; got != want {
			t.Errorf("%v: %v, want %v", used, got, want)
		}
		if h.Get(budgetPrefix+"Reset") != "" {
			t.Errorf("what is never reset has %v", h)
		}
	}
}

// With a claim the client would write a sentence of its own.
func TestARefusalByABudgetHasNoClaim(t *testing.T) {
	h := http.Header{}
	e := apierror.New(apierror.BudgetExceeded, "no")
	e.Budget = &apierror.Budget{Period: "weekly", ResetsAt: time.Unix(1786147200, 0), Shared: true}
	Anthropic{}.ShowRefusal(h, e, time.Time{})
	want := map[string]string{
		"Status": "rejected", "Reset": "1786147200", "Overage-Reset": "1786147200", "Overage-Utilization": "1", "Overage-Surpassed-Threshold": "1",
		"Overage-Period": "weekly", "Overage-Disabled-Reason": "org_spend_cap_reached", "Overage-Scope": "group_pool",
	}
	if len(h) != len(want) {
		t.Errorf("%v", h)
	}
	for name, value := range want {
		if h.Get(budgetPrefix+name) != value {
			t.Errorf("%s: %v, want %s", name, h, value)
		}
	}
}
