package authserver

import (
	"encoding/json"
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// UsagePath is where Claude Code asks for the dollars beside the headers of an answer:
//
//	{"extra_usage": {"is_enabled": true, "monthly_limit": 50000, "used_credits": 27140,
//	                 "utilization": 54, "currency": "USD"},
//	 "limits": [{"kind": "spend", "group": "monthly", "percent": 54,
//	             "resets_at": "2026-10-01T00:00:00.000Z", "severity": "normal",
//	             "is_active": true}]}
//
// Amounts are cents, whatever the period is (Claude Code gateway protocol 1). Extra_usage is of
// the active budget: the one that the headers show. It is left out if that is none of money.
const UsagePath = "/api/oauth/usage"

type usage struct {
	Extra  *extraUsage  `json:"extra_usage,omitempty"`
	Limits []usageLimit `json:"limits"`
}

type extraUsage struct {
	Enabled     bool    `json:"is_enabled"`
	Limit       float64 `json:"monthly_limit"`
	Used        float64 `json:"used_credits"`
	Utilization int     `json:"utilization"` // percent
	Currency    string  `json:"currency"`
}

type usageLimit struct {
	Kind     string  `json:"kind"`
	Group    string  `json:"group"`
	Percent  int     `json:"percent"`
	ResetsAt *string `json:"resets_at"` // null: never
	Severity string  `json:"severity"`
	Active   bool    `json:"is_active"`
}

const nanoPerCent = 1e7

// Usage returns the answer for the balances of a caller's own budgets.
func Usage(balances []limits.Balance) ([]byte, error) {
	answer, active := usage{Limits: []usageLimit{}}, policy.Fullest(balances)
	for i, b := range balances {
		if b.Budget.Limit == limits.NoLimit {
			continue
		}
		row := usageLimit{Kind: "spend", Group: policy.PeriodName(b.Budget.Period), Percent: percent(b), Severity: severity(b), Active: i == active}
		if row.Group == "" {
			row.Group = b.Budget.Period.String()
		}
		if !b.ResetsAt.IsZero() {
			text := b.ResetsAt.UTC().Format("2006-01-02T15:04:05.000Z")
			row.ResetsAt = &text
		}
		answer.Limits = append(answer.Limits, row)
		if i == active && b.Budget.Unit == limits.Money {
			answer.Extra = &extraUsage{true, float64(b.Budget.Limit) / nanoPerCent, math.Floor(float64(b.Spent) / nanoPerCent), row.Percent, "USD"}
		}
	}
	return json.Marshal(answer)
}

// percent is below 100 as long as something is left.
func percent(b limits.Balance) int {
	whole := int(min(policy.UsedPart(b)*100, math.MaxInt32))
	if b.Spent < b.Budget.Limit {
		return min(whole, 99)
	}
	return whole
}

func severity(b limits.Balance) string {
	switch used := policy.UsedPart(b); {
	case used > 0.95:
		return "critical"
	case used > 0.75:
		return "warning"
	}
	return "normal"
}
