package admin

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

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
