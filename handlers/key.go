package handlers

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// serveKey answers with what the caller's own key has spent and may still spend.
func serveKey(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	balances, err := x.gateway.Balances(x.r.Context(), x.Credential.Name)
	if err != nil {
		return apierror.New(apierror.LedgerUnavailable, "what this key has spent cannot be read now").WithCause(err)
	}
	return x.succeed(report.Key(x.r.Context(), x.gateway.Requests().Activity, x.Credential.Key, balances, x.gateway.Requests().Now()))
}
