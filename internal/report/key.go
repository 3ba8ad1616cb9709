package report

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// KeyInfo is what a key says of itself.
type KeyInfo = openrouter.KeyInfo

// Key returns what a key has spent and may still spend. Balances are those of all budgets that its
// calls need; of those that are not the key's own it only says which are used up. Made is what a key
// that was made at run time says of itself, nil for one of the configuration. Usage is the ledger's for
// the periods in which the key has a budget, and otherwise the sum of the days that the activity still
// has. A key made at run time is counted in every period. Errors: 503.
func Key(ctx context.Context, log activity.Log, key *keys.Key, made *KeyInfo, balances []limits.Balance, now time.Time) ([]byte, error) {
	info := openrouter.KeyInfo{Label: key.Name}
	if made != nil {
		info = *made
	} else {
		days, err := log.Costs(ctx, key.Tenant, key.Name)
		if err != nil {
			return nil, refusal(err)
		}
		info.Usage, info.UsageDaily, info.UsageWeekly, info.UsageMonthly = spent(days, now.UTC())
	}
	manages := key.Has(keys.KeysManage)
	info.Expires, info.Workspace = openrouter.Timestamp(key.Expires), openrouter.Text(keys.WorkspaceID(key.Tenant))
	info.ManagementKey, info.ProvisioningKey = manages, manages
	own := policy.KeySubject(key.Name)
	showBudgets(&info, slices.DeleteFunc(slices.Clone(balances), func(b limits.Balance) bool { return b.Subject != own }))
	for _, b := range balances {
		if !b.Budget.Soft && b.Remaining() == 0 && !slices.Contains(info.Exhausted, b.Subject) {
			info.Exhausted = append(info.Exhausted, b.Subject)
		}
	}
	return openrouter.AppendKey(nil, info), nil
}

// LedgerFailure is the error if the balances of a key cannot be read: 503, or the client left. An error
// that has a code already stays.
func LedgerFailure(ctx context.Context, err error) error {
	return ledgerFailure(ctx, "what this key has spent cannot be read now", err)
}

func ledgerFailure(ctx context.Context, message string, err error) error {
	if ctx.Err() != nil {
		return refusal(ctx.Err())
	}
	var coded *apierror.Error
	if errors.As(err, &coded) {
		return coded
	}
	return apierror.New(apierror.LedgerUnavailable, "%s", message).WithCause(err)
}

// showBudgets shows the budgets of a key. OpenRouter's own members show the one for money with the
// least remaining.
func showBudgets(info *openrouter.KeyInfo, balances []limits.Balance) {
	for _, b := range balances {
		counted := b.Budget.Limit == limits.NoLimit
		if !counted {
			info.Budgets = append(info.Budgets, budget(b))
		}
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
		if counted {
			continue
		}
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

// spent returns the sums of all days, of today, this week (from Monday) and this month, in UTC.
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
