package report

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Query is what a request asks of the activity.
type Query struct {
	Values url.Values
	// Accept is the request's header of that name. It chooses CSV if Values have no format.
	Accept string
	// MaxAge is how old the sums of [Series] may be.
	MaxAge time.Duration
	// See says whose records may be seen if a tenant, or "", is asked for.
	See func(tenant string) keys.Tenants
}

// Answer is JSON, or CSV that is written row by row.
type Answer struct {
	JSON []byte
	CSV  *CSV
}

const formatParam = "format"

// withParam adds a parameter to sorted names.
func withParam(params []string, name string) []string {
	at, _ := slices.BinarySearch(params, name)
	return slices.Insert(params, at, name)
}

// csv reports whether CSV is asked for: by format, else by the first type that is accepted.
func (q *Query) csv() (bool, error) {
	switch formats := q.Values[formatParam]; {
	case len(formats) == 0:
		first, _, _ := strings.Cut(q.Accept, ",")
		first, _, _ = strings.Cut(first, ";")
		return strings.EqualFold(strings.TrimSpace(first), "text/csv"), nil
	case len(formats) == 1 && (formats[0] == "csv" || formats[0] == "json"):
		return formats[0] == "csv", nil
	}
	return false, apierror.New(apierror.InvalidValue, "format: must be json or csv, once").WithParam(formatParam)
}
