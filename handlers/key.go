package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/report"

// serveKey answers with what the caller's own key has spent and may still spend.
func serveKey(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	ctx, requests := x.r.Context(), x.gateway.Requests()
	balances, err := x.gateway.Budgets().Caller(ctx, &x.req.Caller)
	if err != nil {
		return report.LedgerFailure(ctx, err)
	}
	answer, err := report.Key(ctx, requests.Activity, x.req.Caller.Key, x.gateway.RuntimeKeys().Of(&x.req.Caller), balances, requests.Now())
	report.SetUntil(x.w.Header(), requests.Activity)
	return x.succeed(answer, err)
}

// serveCredits answers with what the caller's tenant has spent and may spend.
func serveCredits(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	ctx, log := x.r.Context(), x.gateway.Requests().Activity
	balances, err := x.gateway.Budgets().Tenant(ctx, &x.req.Caller)
	if err != nil {
		return report.LedgerFailure(ctx, err)
	}
	answer, err := report.Credits(ctx, log, x.req.Caller.Tenant, balances)
	report.SetUntil(x.w.Header(), log)
	return x.succeed(answer, err)
}
