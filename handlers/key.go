package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/report"

// serveKey answers with what the caller's own key has spent and may still spend.
func serveKey(x *apiRequest) error {
	if _, err := x.strictQuery(); err != nil {
		return err
	}
	requests := x.gateway.Requests()
	return x.succeed(report.Key(x.r.Context(), requests.Activity, x.gateway.Balances, x.Credential.Key, requests.Now()))
}
