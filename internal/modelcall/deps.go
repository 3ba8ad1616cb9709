package modelcall

import (
	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Deps are the parts of a gateway that its model calls use, with those of all requests. They do not
// change while requests run.
type Deps struct {
	admission.Deps
	Models    Models
	Providers []*provider.Provider // as configured
	Owners    *owners.Owners
	Health    *failover.Health
	Answers   *memory.Semaphore // for large answers of providers
	Timeouts  Timeouts
	NoEndUser bool // no row has what the caller says of its end user and its app

	// WarnOfDemo warns once of a built-in part that serves more than this machine.
	WarnOfDemo func(what string)
}
