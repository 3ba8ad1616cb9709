package openrouter

import "time"

// KeyInfo is the answer of GET /api/v1/key: what the caller may know of the
// key it calls with. Amounts are in nano-USD.
type KeyInfo struct {
	Label     string    // the key's name, never its secret
	Expires   time.Time // zero is null: never
	Limited   bool      // there is a money budget
	Limit     int64
	Remaining int64
	Reset     string // "daily", "weekly", "monthly"; "" is null

	Usage, UsageDaily, UsageWeekly, UsageMonthly int64

	Budgets []Budget // of the key itself, shown beside what the family knows
}

// Budget is the state of one budget. Amounts are in nano-USD or, where Tokens
// is true, in tokens.
type Budget struct {
	Period                 string // day, week, month, total
	Tokens                 bool
	Soft                   bool
	Limit, Spent, Reserved int64
	ResetsAt               time.Time // zero is null: never
}

func (w *writer) budgets(budgets []Budget) {
	w.key("budgets")
	w.dst = append(w.dst, '[')
	for i, b := range budgets {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, '{')
		unit, amount := "usd", w.usd
		if b.Tokens {
			unit, amount = "tokens", w.number
		}
		w.text("unit", unit)
		w.text("period", b.Period)
		w.bool("soft", b.Soft)
		amount("limit", b.Limit)
		amount("spent", b.Spent)
		amount("reserved", b.Reserved)
		if b.ResetsAt.IsZero() {
			w.null("resets_at")
		} else {
			w.text("resets_at", timestamp(b.ResetsAt))
		}
		w.close()
	}
	w.dst = append(w.dst, ']')
}

// AppendKey appends {"data": …}.
func AppendKey(dst []byte, k KeyInfo) []byte {
	w := writer{dst: append(dst, '{')}
	w.open("data")
	w.text("label", k.Label)
	if k.Limited {
		w.usd("limit", k.Limit)
		w.usd("limit_remaining", k.Remaining)
	} else {
		w.null("limit")
		w.null("limit_remaining")
	}
	w.textOrNull("limit_reset", k.Reset)
	w.usd("usage", k.Usage)
	w.usd("usage_daily", k.UsageDaily)
	w.usd("usage_weekly", k.UsageWeekly)
	w.usd("usage_monthly", k.UsageMonthly)
	for _, none := range [...]string{"byok_usage", "byok_usage_daily", "byok_usage_weekly", "byok_usage_monthly"} {
		w.number(none, 0)
	}
	for _, no := range [...]string{"is_free_tier", "is_management_key", "is_provisioning_key", "include_byok_in_limit"} {
		w.bool(no, false)
	}
	w.budgets(k.Budgets)
	w.null("creator_user_id")
	// Asked for by SDKs from 1.3 on.
	w.null("organization_id")
	w.null("workspace_id")
	w.texts("allowed_data_regions", nil)
	w.open("free_model_daily_requests")
	w.number("limit", 0)
	w.number("remaining", 0)
	w.number("used", 0)
	w.close()
	if k.Expires.IsZero() {
		w.null("expires_at")
	} else {
		w.text("expires_at", timestamp(k.Expires))
	}
	// Deprecated by OpenRouter, yet required by its SDKs.
	w.open("rate_limit")
	w.number("requests", -1)
	w.text("interval", "10s")
	w.text("note", "not used; limits are told by the answers of a call")
	w.close()
	w.close()
	return append(w.dst, '}')
}
