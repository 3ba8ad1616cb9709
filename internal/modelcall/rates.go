package modelcall

import (
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// shownLimits are the limits that the header of an answer shows.
type shownLimits struct {
	api    wire.API
	now    func() time.Time
	rates  [2]*apierror.Rate // of requests and of tokens; nil where none applies
	budget *apierror.Budget  // nil: none is shown
}

// ratesOf returns the tightest rates that the call counted against until now.
func ratesOf(c *call) shownLimits { return shownLimits{c.api, c.deps.Now, c.permits.Rates(), nil} }

// limitsOf returns those and the budget, for an answer of a provider.
func limitsOf(c *call) shownLimits {
	shown := ratesOf(c)
	shown.budget = c.charge.spending.Shown()
	return shown
}

func (s shownLimits) set(h http.Header) {
	for _, rate := range s.rates {
		if rate != nil {
			s.api.ShowRate(h, rate, s.now())
		}
	}
	if s.budget != nil {
		s.api.(wire.BudgetAPI).ShowBudget(h, s.budget)
	}
}

func subjectsOf(models []*policy.ModelLimits) []limits.Subject {
	subjects := make([]limits.Subject, len(models))
	for i, m := range models {
		subjects[i] = m.Subject
	}
	return subjects
}
