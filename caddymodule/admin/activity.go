package admin

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// serveActivity answers as GET /api/v1/activity does, for all tenants or the parameter tenant.
func serveActivity(w http.ResponseWriter, r *http.Request) error {
	return sendReport(w, r, report.ActivityParams(), func(ctx context.Context, active *gateway.Gateway, q report.Query) (report.Answer, error) {
		return report.Activity(ctx, active.Requests().Activity, q)
	})
}

// serveSeries answers as GET /api/v1/activity/series does.
func serveSeries(w http.ResponseWriter, r *http.Request) error {
	return sendReport(w, r, report.SeriesParams(), func(ctx context.Context, active *gateway.Gateway, q report.Query) (report.Answer, error) {
		return report.Series(ctx, active.Requests().Activity, q, active.Requests().Now())
	})
}

// sendReport writes JSON or CSV. A part of a table ends in a broken connection, so that it does not
// look whole.
func sendReport(w http.ResponseWriter, r *http.Request, params []string, ask func(context.Context, *gateway.Gateway, report.Query) (report.Answer, error)) error {
	answer, err := askReport(w.Header(), r, params, ask)
	switch {
	case err != nil:
		Write(w, nil, err)
	case answer.CSV == nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer.JSON) // the operator has disconnected
	default:
		w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
		if err := answer.CSV.Write(r.Context(), w); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	return nil
}

func askReport(h http.Header, r *http.Request, params []string, ask func(context.Context, *gateway.Gateway, report.Query) (report.Answer, error)) (report.Answer, error) {
	active, err := Running(r, http.MethodGet)
	if err != nil {
		return report.Answer{}, err
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return report.Answer{}, apierror.New(apierror.InvalidValue, "the query of the URL is malformed: %v", err)
	}
	for name := range q {
		if !slices.Contains(params, name) { // a filter that is spelt wrongly would show everything
			return report.Answer{}, apierror.New(apierror.UnsupportedParameter, "unknown parameter; this route takes %s", strings.Join(params, ", "))
		}
	}
	if err := active.Ready(r.Context()); err != nil {
		return report.Answer{}, err
	}
	answer, err := ask(r.Context(), active, report.Query{Values: q, Accept: r.Header.Get("Accept"), See: keys.EveryTenant})
	report.SetUntil(h, active.Requests().Activity)
	return answer, err
}

// rebuilt is the answer to a rebuild.
type rebuilt struct {
	// Rows is how many rows of the activity were summed.
	Rows int `json:"rows"`
}

// rebuildSeries makes the hourly and daily sums again from the rows of the activity.
func rebuildSeries(active *gateway.Gateway, r *http.Request) (any, error) {
	if err := active.Ready(r.Context()); err != nil {
		return nil, err
	}
	rows, err := active.Requests().Activity.Rebuild(r.Context())
	if err != nil {
		return nil, apierror.New(apierror.LedgerUnavailable, "the series are not rebuilt yet: %v; the rest is done in the background", err).WithCause(err)
	}
	return rebuilt{rows}, nil
}
