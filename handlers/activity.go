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
func serveActivity(x *Request) error {
	q, err := activityQuery(x, report.ActivityParams())
	if err != nil {
		return err
	}
	answer, err := report.Activity(x.HTTP.Context(), x.Gateway.Requests().Activity, q)
	return sendReport(x, answer, err)
}

// serveSeries answers with sums over time.
func serveSeries(x *Request) error {
	q, err := activityQuery(x, report.SeriesParams())
	if err != nil {
		return err
	}
	requests := x.Gateway.Requests()
	answer, err := report.Series(x.HTTP.Context(), requests.Activity, q, requests.Now())
	return sendReport(x, answer, err)
}

func activityQuery(x *Request, params []string) (report.Query, error) {
	values, err := x.StrictQuery(params...)
	return report.Query{Values: values, Accept: x.HTTP.Header.Get("Accept"), MaxAge: maxAge(x.HTTP.Header), See: x.Req.Caller.Tenants}, err
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
func sendReport(x *Request, answer report.Answer, err error) error {
	x.Writer.Header().Add("Vary", "Accept")
	report.SetUntil(x.Writer.Header(), x.Gateway.Requests().Activity)
	if err != nil || answer.CSV == nil {
		return x.Succeed(answer.JSON, err)
	}
	h := x.Writer.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", `attachment; filename="gatehouse-activity.csv"`)
	if x.HTTP.Method == http.MethodHead {
		x.Req.Outcome.Succeed(http.StatusOK)
		x.Writer.WriteHeader(http.StatusOK)
		return nil
	}
	control := http.NewResponseController(x.Writer)
	_ = control.SetWriteDeadline(time.Now().Add(report.ExportTimeout)) // else the server's own holds
	x.Writer.WriteHeader(http.StatusOK)
	if err := answer.CSV.Write(x.HTTP.Context(), x.Writer); err != nil {
		code := apierror.LedgerUnavailable
		if x.HTTP.Context().Err() != nil {
			code = apierror.ClientGone
		}
		x.Req.Outcome.Fail(apierror.New(code, "the export was cut off").WithCause(err))
		panic(http.ErrAbortHandler)
	}
	_ = control.SetWriteDeadline(time.Time{})
	x.Req.Outcome.Succeed(http.StatusOK)
	return nil
}

// serveGeneration answers with one request, found by one of its ids.
func serveGeneration(x *Request) error {
	q, err := x.StrictQuery("id")
	if err != nil {
		return err
	}
	return x.Succeed(report.Generation(x.HTTP.Context(), x.Gateway.Requests().Activity, x.Req.Caller.Tenant, q.Get("id")))
}
