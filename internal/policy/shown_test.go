package policy

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestARefusalTellsAPersonWhatToDo(t *testing.T) {
	usd := limits.Budget{Unit: limits.Money, Limit: 50_000_000_000, Period: limits.Monthly}
	tokens := limits.Budget{Unit: limits.Tokens, Limit: 600, Period: limits.Total, Soft: true}
	resets := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		refused limits.Refusal
		want    string
		budget  apierror.Budget
	}{
		{limits.Refusal{Balance: limits.Balance{Subject: "key:idp-1", Budget: usd, Spent: 50_000_000_001, ResetsAt: resets}, RetryAfter: time.Hour},
			"your budget, 50usd/month, is used up · it is full again at 00:00 UTC on Dec 1 · ask who runs this gateway for more",
			apierror.Budget{Period: "monthly", ResetsAt: resets}},
		{limits.Refusal{Balance: limits.Balance{Subject: "tenant:acme", Budget: usd, Spent: 40_000_000_000, Reserved: 1_000_000_000, ResetsAt: resets}, Amount: 10_500_000_000, RetryAfter: time.Hour},
			"the budget of tenant acme, 50usd/month, has 9 USD left, and this request may need 10.5 USD · it is full again at 00:00 UTC on Dec 1 · ask who runs this gateway for more",
			apierror.Budget{Period: "monthly", ResetsAt: resets, Shared: true}},
		{limits.Refusal{Balance: limits.Balance{Subject: "key:idp-1", Budget: tokens, Spent: 600}},
			"your budget, 600 tokens/total, is used up · it is never full again · ask who runs this gateway for more", apierror.Budget{}},
	} {
		e := apierror.New(apierror.BudgetExceeded, "")
		ToPerson(e, &c.refused, "idp-1")
		c.budget.Used = UsedPart(c.refused.Balance)
		if e.Message != c.want || *e.Budget != c.budget || e.RetryAfter != c.refused.RetryAfter || e.HTTPStatus() != 429 || !e.Final() || e.AnthropicType() != "billing_error" {
			t.Errorf("%+v %+v, want %s %+v", e, e.Budget, c.want, c.budget)
		}
	}
}

func TestTheFullestBudgetIsShown(t *testing.T) {
	balance := func(spent, reserved, limit int64, p limits.Period) limits.Balance {
		return limits.Balance{Budget: limits.Budget{Unit: limits.Money, Limit: limit, Period: p}, Spent: spent, Reserved: reserved}
	}
	day, month, counted := balance(5, 90, 100, limits.Daily), balance(50, 0, 500, limits.Monthly), balance(1000, 0, limits.NoLimit, limits.Weekly)
	if b := ShownBudget([]limits.Balance{counted, day, month}); b == nil || *b != (apierror.Budget{Used: 0.1, Period: "monthly"}) {
		t.Errorf("%+v", b)
	}
	if b := ShownBudget([]limits.Balance{counted}); b != nil {
		t.Errorf("what is only counted: %+v", b)
	}
}
