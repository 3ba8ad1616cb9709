package modelcall

import (
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Deps are the parts of a gateway that its model calls use, with those of all requests. They do not
// change while requests run.
type Deps struct {
	request.Deps
	Models      Models
	Providers   []*provider.Provider // as configured
	Guardrails  *policy.Guardrails
	Rates       limits.Rates
	Concurrency *limits.ConcurrencyLimiter
	Ledger      limits.Ledger
	Exhausted   *policy.ExhaustedBudgets
	Owners      *owners.Owners
	Health      *failover.Health
	Answers     *memory.Semaphore // for large answers of providers
	Timeouts    Timeouts

	// WarnOfDemo warns once of a built-in part that serves more than this machine.
	WarnOfDemo func(what string)
}
