package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/report"

// serveLimits answers with the limits that the key may see, and what is used of them: those of its
// tenant with limits:read, else its own.
func serveLimits(x *Request) error {
	q, err := x.StrictQuery(report.LimitsParams()...)
	if err != nil {
		return err
	}
	return x.Succeed(report.Limits(x.HTTP.Context(), x.Gateway.Requests(), x.Req.Caller.Key, q))
}
