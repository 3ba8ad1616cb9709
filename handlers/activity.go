package handlers

import "github.com/gatehouse-proxy/gatehouse/internal/report"

// serveActivity answers with the requests of the key's tenant, newest first, or with daily sums
// (group_by=day).
func serveActivity(x *apiRequest) error {
	q, err := x.strictQuery(report.ActivityParams()...)
	if err != nil {
		return err
	}
	return x.succeed(report.Activity(x.r.Context(), x.gateway.Requests().Activity, x.Tenant, q))
}

// serveGeneration answers with one request, found by one of its ids.
func serveGeneration(x *apiRequest) error {
	q, err := x.strictQuery("id")
	if err != nil {
		return err
	}
	return x.succeed(report.Generation(x.r.Context(), x.gateway.Requests().Activity, x.Tenant, q.Get("id")))
}
