package report

import "time"

// The states of a gateway as a whole. A balancer must send requests only to one that is ready.
const (
	StateReady        = "ready"
	StateStarting     = "starting"
	StateUnavailable  = "unavailable" // without a usable store
	StateShuttingDown = "shutting_down"
)

// The states of a part.
const (
	PartOK          = "ok"
	PartDegraded    = "degraded"    // calls go on, with what PartStatus.Detail says
	PartUnavailable = "unavailable" // the gateway is not ready without it
)

// PartStatus is the state of one part of a gateway. Detail and Since are for operators only.
type PartStatus struct {
	Name   string     `json:"name"`
	State  string     `json:"state"`
	Since  *time.Time `json:"since"`  // null if it is ok, or if that is not known
	Detail string     `json:"detail"` // what is wrong and what to do; "" if it is ok
}

// Condition is what probes and operators learn about a gateway.
type Condition struct {
	State string       `json:"state"`
	Parts []PartStatus `json:"parts"` // none while it starts
}

// Ready reports whether requests should be sent to the gateway.
func (c Condition) Ready() bool { return c.State == StateReady }

// Certificate is one that clients are shown.
type Certificate struct {
	Name    string    `json:"name"` // of a site, or the wildcard of viewers
	Expires time.Time `json:"expires_at"`
	RenewBy time.Time `json:"renew_by"` // from then on its renewal is late
}

// DrainStatus is what operators learn of a Drain.
type DrainStatus struct {
	Draining bool       `json:"draining"` // the process exits
	Sessions int        `json:"sessions"` // desktops that are open at this gateway
	Since    *time.Time `json:"since"`    // null unless it exits
	Until    *time.Time `json:"until"`    // when the last desktop ends at the latest; null unless it exits
}
