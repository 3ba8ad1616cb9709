package modelcall

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// shownRates are the rates that the header of an answer shows.
type shownRates struct {
	api   wire.API
	now   func() time.Time
	rates [2]*apierror.Rate // of requests and of tokens; nil where none applies
}

// ratesOf returns the tightest rates that the call counted against until now.
func ratesOf(c *call) shownRates { return shownRates{c.api, c.deps.Now, c.permits.Rates()} }

func (s shownRates) set(h http.Header) {
	for _, rate := range s.rates {
		if rate != nil {
			s.api.ShowRate(h, rate, s.now())
		}
	}
}

func subjectsOf(models []*policy.ModelLimits) []limits.Subject {
	subjects := make([]limits.Subject, len(models))
	for i, m := range models {
		subjects[i] = m.Subject
	}
	return subjects
}
