package authserver

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestUsageIsInCentsOfTheFullestBudget(t *testing.T) {
	resets := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	month := limits.Balance{Budget: limits.Budget{Unit: limits.Money, Limit: 500_000_000_000, Period: limits.Monthly}, Spent: 271_409_999_999, ResetsAt: resets}
	tokens := limits.Balance{Budget: limits.Budget{Unit: limits.Tokens, Limit: 1000, Period: limits.Total}, Spent: 800}
	over := month
	over.Spent = 510_000_000_000
	almost := month
	almost.Spent = 499_999_999_999
	row := func(percent, severity, active string) string {
		return `{"kind":"spend","group":"monthly","percent":` + percent + `,"resets_at":"2026-12-01T00:00:00.000Z","severity":"` + severity + `","is_active":` + active + `}`
	}
	dollars := func(used, percent string) string {
		return `{"extra_usage":{"is_enabled":true,"monthly_limit":50000,"used_credits":` + used + `,"utilization":` + percent + `,"currency":"USD"},"limits":[`
	}
	for _, c := range []struct {
		balances []limits.Balance
		want     string
	}{
		{nil, `{"limits":[]}`},
		{[]limits.Balance{{Budget: limits.Budget{Unit: limits.Money, Limit: limits.NoLimit, Period: limits.Daily}, Spent: 5}}, `{"limits":[]}`},
		{[]limits.Balance{month}, dollars("27140", "54") + row("54", "normal", "true") + `]}`},
		{[]limits.Balance{almost}, dollars("49999", "99") + row("99", "critical", "true") + `]}`},
		{[]limits.Balance{over}, dollars("51000", "102") + row("102", "critical", "true") + `]}`},
		{[]limits.Balance{month, tokens}, `{"limits":[` + row("54", "normal", "false") +
			`,{"kind":"spend","group":"total","percent":80,"resets_at":null,"severity":"warning","is_active":true}]}`},
	} {
		if got, err := Usage(c.balances); err != nil || string(got) != c.want {
			t.Errorf("%s, %v, want\n%s", got, err, c.want)
		}
	}
}
