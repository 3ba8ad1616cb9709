package handlers

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
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
	info := openrouter.KeyInfo{Label: key.Name, Expires: openrouter.Timestamp(key.Expires)}
	info.Usage, info.UsageDaily, info.UsageWeekly, info.UsageMonthly = spent(days, x.gateway.Now().UTC())
	balances, err := x.gateway.Balances(x.r.Context(), key.Name)
	if err != nil {
		return apierror.New(apierror.LedgerUnavailable, "what this key has spent cannot be read now").WithCause(err)
	}
	showBudgets(&info, balances)
	return x.succeed(openrouter.AppendKey(nil, info))
}

// showBudgets tells of the key's budgets; the family's own members are about the
// one for money with the least remaining.
func showBudgets(info *openrouter.KeyInfo, balances []limits.Balance) {
	for _, b := range balances {
		info.Budgets = append(info.Budgets, budget(b))
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
		*usage = openrouter.USD(b.Spent)
		limit, left := openrouter.USD(b.Budget.Limit), openrouter.USD(b.Remaining())
		if info.Remaining == nil || left < *info.Remaining {
			info.Limit, info.Remaining, info.Reset = &limit, &left, openrouter.Text(reset)
		}
	}
}

func budget(b limits.Balance) openrouter.Budget {
	unit, amount := "usd", func(n int64) any { return openrouter.USD(n) }
	if b.Budget.Unit == limits.Tokens {
		unit, amount = "tokens", func(n int64) any { return n }
	}
	return openrouter.Budget{
		Unit: unit, Period: b.Budget.Period.String(), Soft: b.Budget.Soft,
		Limit: amount(b.Budget.Limit), Spent: amount(b.Spent), Reserved: amount(b.Reserved),
		ResetsAt: openrouter.Timestamp(b.ResetsAt),
	}
}

// spent sums in all, today, this week (from Monday) and this month, in UTC.
func spent(days []activity.Day, now time.Time) (all, day, week, month openrouter.USD) {
	today := now.Format(time.DateOnly)
	monday := now.AddDate(0, 0, -(int(now.Weekday())+6)%7).Format(time.DateOnly)
	first := now.Format("2006-01") + "-01"
	for _, d := range days {
		cost := openrouter.USD(d.CostNano)
		all += cost
		if d.Date >= first {
			month += cost
		}
		if d.Date >= monday {
			week += cost
		}
		if d.Date == today {
			day += cost
		}
	}
	return all, day, week, month
}
