package handlers

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// serveKey tells a caller about its own key. Usage is the ledger's where the key
// has a budget of that period, and otherwise what the activity still knows: the
// priced calls within its retention.
func serveKey(x *exchange) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	key := x.call.Credential.Key
	days, err := x.gateway.Activity().Daily(x.r.Context(), activity.Filter{Tenant: key.Tenant, Key: key.Name})
	if err != nil {
		return queryFault(err)
	}
	info := openrouter.KeyInfo{Label: key.Name, Expires: key.Expires}
	info.Usage, info.UsageDaily, info.UsageWeekly, info.UsageMonthly = spent(days, x.gateway.Now().UTC())
	balances, err := x.gateway.Balances(x.r.Context(), key.Name)
	if err != nil {
		return fault.New(fault.LedgerUnavailable, "what this key has spent cannot be read now").WithCause(err)
	}
	showBudgets(&info, balances)
	return x.succeed(openrouter.AppendKey(nil, info))
}

// showBudgets tells of the key's budgets; the family's own members are about the
// one for money with the least remaining.
func showBudgets(info *openrouter.KeyInfo, balances []limits.Balance) {
	for _, b := range balances {
		info.Budgets = append(info.Budgets, openrouter.Budget{
			Period: b.Budget.Period.String(), Tokens: b.Budget.Unit == limits.Tokens, Soft: b.Budget.Soft,
			Limit: b.Budget.Limit, Spent: b.Spent, Reserved: b.Reserved, ResetsAt: b.ResetsAt,
		})
		if b.Budget.Unit != limits.Money {
			continue
		}
		usage, reset := &info.Usage, ""
		switch b.Budget.Period {
		case limits.Daily:
			usage, reset = &info.UsageDaily, "daily"
		case limits.Weekly:
			usage, reset = &info.UsageWeekly, "weekly"
		case limits.Monthly:
			usage, reset = &info.UsageMonthly, "monthly"
		}
		*usage = b.Spent
		if left := b.Remaining(); !info.Limited || left < info.Remaining {
			info.Limited, info.Limit, info.Remaining, info.Reset = true, b.Budget.Limit, left, reset
		}
	}
}

// spent sums in all, today, this week (from Monday) and this month, in UTC.
func spent(days []activity.Day, now time.Time) (all, day, week, month int64) {
	today := now.Format(time.DateOnly)
	monday := now.AddDate(0, 0, -(int(now.Weekday())+6)%7).Format(time.DateOnly)
	first := now.Format("2006-01") + "-01"
	for _, d := range days {
		all += d.CostNano
		if d.Date >= first {
			month += d.CostNano
		}
		if d.Date >= monday {
			week += d.CostNano
		}
		if d.Date == today {
			day += d.CostNano
		}
	}
	return all, day, week, month
}
