package gateway

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// Standing is the present state of one limit. Amounts are texts: decimal USD, or a number.
type Standing struct {
	Subject string `json:"subject"` // "key:dev", "tenant:acme", "model:openai/*", "gateway"
	Option  string `json:"option"`  // as configured: "rate 10/min"
	Used    string `json:"used"`    // spent and reserved, counted, or under way
	Limit   string `json:"limit"`
	Percent int64  `json:"percent"` // of Used in Limit; above 100 if it was exceeded
	// ResetsAt is when a budget's period ends, or a rate has nothing counted any more; nil: never.
	ResetsAt *time.Time `json:"resets_at,omitempty"`
}

// Standings returns the present state of all limits for calls of a key to a model. A key that is not
// configured any more has those of its tenant.
func Standings(ctx context.Context, g *Gateway, key, tenant, model string) ([]Standing, error) {
	now := g.now()
	var all []Standing
	add := func(subject, option string, used, limit int64, text func(int64) string, resets time.Time) {
		s := Standing{Subject: subject, Option: option, Used: text(used), Limit: text(limit), ResetsAt: timeOrNull(resets)}
		if limit > 0 {
			s.Percent = int64(float64(used) / float64(limit) * 100)
		}
		all = append(all, s)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	var own *policy.KeyLimits
	for _, s := range g.others {
		own = cmp.Or(own, s.LimitsOf(tenant, key))
	}
	subjects := g.requests.Limits.Applying(g.requests.Limits.Of(&keys.Key{Name: key, Tenant: tenant}, own), model)
	for part := range slices.Chunk(subjects, limits.MaxSubjects) {
		balances, err := g.requests.Ledger.Status(ctx, now, part)
		if err != nil {
			return nil, err
		}
		for _, b := range balances {
			if b.Budget.Limit == limits.NoLimit {
				continue // it is only counted
			}
			text := number
			if b.Budget.Unit == limits.Money {
				text = limits.FormatMoney
			}
			add(b.Subject, "budget "+b.Budget.String(), b.Spent+b.Reserved, b.Budget.Limit, text, b.ResetsAt)
		}
		uses, err := g.requests.Rates.Read(ctx, part)
		if err != nil {
			return nil, err
		}
		calls, err := g.requests.Concurrency.Read(ctx, part)
		if err != nil {
			return nil, err
		}
		for i, s := range part {
			for _, r := range uses[:len(s.Rates)] {
				var resets time.Time
				if r.Reset > 0 {
					resets = now.Add(r.Reset)
				}
				add(s.Name, "rate "+r.Rate.String(), r.Used, r.Rate.Limit, number, resets)
			}
			uses = uses[len(s.Rates):]
			if s.Concurrency.Limit > 0 {
				add(s.Name, "concurrency "+strconv.Itoa(s.Concurrency.Limit), int64(calls[i].InUse), int64(s.Concurrency.Limit), number, time.Time{})
			}
		}
	}
	return all, nil
}

// Retention is how long activity rows are kept.
func Retention(g *Gateway) activity.Retention { return g.generation.keep.OrDefault() }

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
