package openrouter

import (
	"math"
	"strconv"
)

// LimitItem is one limit of GET /api/v1/limits, with what is used of it. OpenRouter has no such
// route. The members after Exhausted depend on Type.
type LimitItem struct {
	Subject    string `json:"subject"`    // "key:dev", "tenant:acme", "model:openai/*", "gateway"
	Tenant     Text   `json:"tenant"`     // whose it is; null: all tenants share it
	Type       string `json:"type"`       // budget, rate, concurrency
	Configured string `json:"configured"` // as in the configuration: "10usd/day"
	Unit       string `json:"unit"`       // usd, tokens, requests, calls
	Limit      Amount `json:"limit"`
	Remaining  Amount `json:"remaining"`
	UsedRatio  Ratio  `json:"used_ratio"` // what is used, spent and reserved, of the limit
	Exhausted  bool   `json:"exhausted"`  // nothing remains: the next call is refused, or has to wait

	// ResetsAt is the end of a budget's period, or when everything that a rate has counted will have
	// left its window; null for neither.
	ResetsAt Timestamp `json:"resets_at"`

	*BudgetUse
	*RateUse
	*ConcurrencyUse
}

// BudgetUse is the part of a budget.
type BudgetUse struct {
	Period   string `json:"period"` // day, week, month, total
	Soft     bool   `json:"soft"`
	Spent    Amount `json:"spent"`
	Reserved Amount `json:"reserved"` // by calls under way
}

// RateUse is the part of a rate.
type RateUse struct {
	WindowSeconds int64  `json:"window_seconds"`
	Used          Amount `json:"used"`
}

// ConcurrencyUse is the part of a limit of calls at once.
type ConcurrencyUse struct {
	InUse     Amount `json:"in_use"`
	Queued    Amount `json:"queued"`
	Queue     int    `json:"queue"` // how many calls may wait
	MaxWaitMS int64  `json:"max_wait_ms"`
}

// Amount is a number of tokens, requests or calls, or of nano-USD, whose JSON is the exact decimal
// number of USD.
type Amount struct {
	N      int64
	Money  bool
	Hidden bool // null: the caller may not know it
}

// MarshalJSON implements json.Marshaler.
func (a Amount) MarshalJSON() ([]byte, error) {
	switch {
	case a.Hidden:
		return null{}.MarshalJSON()
	case a.Money:
		return AppendUSD(nil, a.N), nil
	}
	return strconv.AppendInt(nil, a.N, 10), nil
}

// Ratio is a share, in at most four decimals; less than zero is null.
type Ratio float64

// NoRatio is the ratio of an amount that is hidden.
const NoRatio Ratio = -1

// MarshalJSON implements json.Marshaler.
func (r Ratio) MarshalJSON() ([]byte, error) {
	if r < 0 {
		return null{}.MarshalJSON()
	}
	return strconv.AppendFloat(nil, math.Round(float64(r)*1e4)/1e4, 'f', -1, 64), nil
}

// AppendLimits appends the answer of GET /api/v1/limits. The cursor names the next page, "" (null) on
// the last.
func AppendLimits(dst []byte, items []LimitItem, nextCursor string) []byte {
	if items == nil {
		items = []LimitItem{}
	}
	return appendJSON(dst, LimitsPage{items, Text(nextCursor)})
}
