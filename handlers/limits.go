package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/report"

// serveLimits answers with the limits that the key may see, and what is used of them: those of its
// tenant with limits:read, else its own.
func serveLimits(x *apiRequest) error {
	q, err := x.strictQuery(report.LimitsParams()...)
	if err != nil {
		return err
	}
	return x.succeed(report.Limits(x.r.Context(), x.gateway.Requests(), x.req.Caller.Key, q))
}
