// Package admission decides whether a call goes on, the same for calls of models and of tools. Each
// part holds one call to something, and what it takes is given back when the call ends:
//
//	Permits    request and token rates, calls at once, the queue for them
//	Spending   budgets: checked, reserved, settled
//	Guard      guardrails, of requests and answers
package admission

import (
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Deps are the parts of a gateway that admit its calls, with those of all requests. They do not change
// while requests run.
type Deps struct {
	request.Deps
	Guardrails  *policy.Guardrails
	Rates       limits.Rates
	Concurrency *limits.ConcurrencyLimiter
	Ledger      limits.Ledger
	Exhausted   *policy.ExhaustedBudgets
}
