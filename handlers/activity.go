package handlers

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// serveActivity answers with the requests that the key may see, newest first, or with daily sums
// (group_by=day).
func serveActivity(x *apiRequest) error {
	q, err := activityQuery(x, report.ActivityParams())
	if err != nil {
		return err
	}
	answer, err := report.Activity(x.r.Context(), x.gateway.Requests().Activity, q)
	return sendReport(x, answer, err)
}

// serveSeries answers with sums over time.
func serveSeries(x *apiRequest) error {
	q, err := activityQuery(x, report.SeriesParams())
	if err != nil {
		return err
	}
	requests := x.gateway.Requests()
	answer, err := report.Series(x.r.Context(), requests.Activity, q, requests.Now())
	return sendReport(x, answer, err)
}

func activityQuery(x *apiRequest, params []string) (report.Query, error) {
	values, err := x.strictQuery(params...)
	return report.Query{Values: values, Accept: x.r.Header.Get("Accept"), MaxAge: maxAge(x.r.Header), See: x.req.Caller.Tenants}, err
}

// maxAge is how old an answer may be by the request's Cache-Control (RFC 9111, 5.2.1), 0 if it does not
// say so, or wants none that was made before.
func maxAge(h http.Header) (age time.Duration) {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch strings.ToLower(name) {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			seconds, _ := strconv.ParseUint(value, 10, 31) // 0 if it is no number, the most if it is too large
			age = time.Duration(seconds) * time.Second
		}
	}
	return age
}

// sendReport answers with JSON or CSV. CSV that cannot be finished cuts the connection, so that a part
// does not look whole.
func sendReport(x *apiRequest, answer report.Answer, err error) error {
	x.w.Header().Add("Vary", "Accept")
	report.SetUntil(x.w.Header(), x.gateway.Requests().Activity)
	if err != nil || answer.CSV == nil {
		return x.succeed(answer.JSON, err)
	}
	h := x.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="gatehouse-activity.csv"`)
	if x.r.Method == http.MethodHead {
		x.req.Outcome.Succeed(http.StatusOK)
		x.w.WriteHeader(http.StatusOK)
		return nil
	}
	control := http.NewResponseController(x.w)
	_ = control.SetWriteDeadline(time.Now().Add(report.ExportTimeout)) // else the server's own holds
	x.w.WriteHeader(http.StatusOK)
	if err := answer.CSV.Write(x.r.Context(), x.w); err != nil {
		code := apierror.LedgerUnavailable
		if x.r.Context().Err() != nil {
			code = apierror.ClientGone
		}
		x.req.Outcome.Fail(apierror.New(code, "the export was cut off").WithCause(err))
		panic(http.ErrAbortHandler)
	}
	_ = control.SetWriteDeadline(time.Time{})
	x.req.Outcome.Succeed(http.StatusOK)
	return nil
}

// serveGeneration answers with one request, found by one of its ids.
func serveGeneration(x *apiRequest) error {
	q, err := x.strictQuery("id")
	if err != nil {
		return err
	}
	return x.succeed(report.Generation(x.r.Context(), x.gateway.Requests().Activity, x.req.Caller.Tenant, q.Get("id")))
}
