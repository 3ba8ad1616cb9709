package handlers

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// serveKey tells a caller about its own key. Usage is what the activity still
// knows: the priced calls within its retention.
func serveKey(x *exchange) error {
	key := x.call.Credential.Key
	days, err := x.gateway.Activity().Daily(x.r.Context(), activity.Filter{Tenant: key.Tenant, Key: key.Name})
	if err != nil {
		return queryFault(err)
	}
	info := openrouter.KeyInfo{Label: key.Name, Expires: key.Expires}
	info.Usage, info.UsageDaily, info.UsageWeekly, info.UsageMonthly = spent(days, x.gateway.Now().UTC())
	return x.succeed(openrouter.AppendKey(nil, info))
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
