package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// serveKey answers with what the caller's own key has spent and may still spend.
func serveKey(x *Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	ctx, requests := x.HTTP.Context(), x.Gateway.Requests()
	balances, err := report.Budgets(ctx, requests, x.Req.Caller.Key, x.Req.Caller.Limits)
	if err != nil {
		return report.LedgerFailure(ctx, err)
	}
	var made *report.KeyInfo // nil: the configuration has the key
	if source, err := Part[madeKeys](x); err == nil && x.Req.Caller.Limits != nil {
		made = source.Info(x.Req.Caller.Name)
	}
	answer, err := report.Key(ctx, requests.Activity, x.Req.Caller.Key, made, balances, requests.Now())
	report.SetUntil(x.Writer.Header(), requests.Activity)
	return x.Succeed(answer, err)
}

// madeKeys are keys that were made at run time.
type madeKeys interface {
	Info(hash string) *report.KeyInfo
}

// serveCredits answers with what the caller's tenant has spent and may spend.
func serveCredits(x *Request) error {
	if _, err := x.StrictQuery(); err != nil {
		return err
	}
	ctx, log := x.HTTP.Context(), x.Gateway.Requests().Activity
	balances, err := report.TenantBudgets(ctx, x.Gateway.Requests(), x.Req.Caller.Key, x.Req.Caller.Limits)
	if err != nil {
		return report.LedgerFailure(ctx, err)
	}
	answer, err := report.Credits(ctx, log, x.Req.Caller.Tenant, balances)
	report.SetUntil(x.Writer.Header(), log)
	return x.Succeed(answer, err)
}
