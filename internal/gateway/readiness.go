package gateway

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

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

// conditionAge is how old the states of the parts may be that a probe gets. Probes need no key, and
// looking at all targets of providers costs time.
const conditionAge = time.Second

// conditions keeps the last states of the parts.
type conditions struct {
	certificate  func() error         // of viewers; nil without workstations
	certificates func() []Certificate // that clients are shown; nil: none

	mu   sync.Mutex // guards the following
	at   time.Time
	last []PartStatus
}

// ReadCondition returns the state of a gateway and of its parts, up to a second old. It asks no
// provider. Until the first configuration of the process has started, and after the process was
// asked to stop, the gateway is not ready; a reload changes nothing.
func ReadCondition(g *Gateway) Condition {
	current := g.state.generations.current()
	switch {
	case g.state.exit.Load() != nil:
		return Condition{State: StateShuttingDown}
	case current == nil:
		return Condition{State: StateStarting}
	}
	c := Condition{State: StateReady, Parts: partsOf(current.gateway)}
	for i := range c.Parts {
		if c.Parts[i].State == PartUnavailable {
			c.State = StateUnavailable
		}
	}
	return c
}

// partsOf returns the states of the parts of g. The caller must not change them.
func partsOf(g *Gateway) []PartStatus {
	c := &g.conditions
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := g.now(); c.last == nil || now.Sub(c.at) >= conditionAge {
		status := g.state.stores.status()
		c.at, c.last = now, []PartStatus{storePart(status), ledgerPart(status), providersPart(&g.models)}
		for _, f := range g.features {
			if f.Status != nil {
				c.last = append(c.last, f.Status()...)
			}
		}
		if g.desktops.workstations != nil {
			c.last = append(c.last, vncPart(g.desktops.workstations, c.certificate))
		}
		if shown := c.shown(); len(shown) > 0 {
			c.last = append(c.last, certificatesPart(shown, now))
		}
	}
	return c.last
}

// storePart is not ready when nothing can be committed. A lock of another process does not count:
// what must be durable goes on by the redo log.
func storePart(s store.Status) PartStatus {
	if s.Err == nil {
		return PartStatus{Name: "store", State: PartOK}
	}
	p := degraded("store", s.Since, fmt.Sprintf("%v; %d changes (%d bytes) wait in memory", s.Err, s.Waiting, s.WaitingBytes))
	if !s.Blocked {
		p.State = PartUnavailable
	}
	return p
}

func ledgerPart(s store.Status) PartStatus {
	switch {
	case s.RedoErr != nil:
		return degraded("ledger", s.RedoSince, fmt.Sprintf("the redo log cannot be written: %v; each call under a hard budget waits for a commit", s.RedoErr))
	case s.Err != nil && !s.Blocked:
		return degraded("ledger", s.Since, "calls under a budget follow on_store_failure")
	case s.Err != nil:
		return degraded("ledger", s.Since, "reservations are kept by the redo log alone")
	}
	return PartStatus{Name: "ledger", State: PartOK}
}

// maxNamed bounds how many targets, or providers, a detail names.
const maxNamed = 5

// providersPart is degraded while a target that the catalog knows is unhealthy, a cloud gives no
// credential, also for an MCP server, or a list of models has never come.
func providersPart(models *Models) PartStatus {
	var names []string
	for _, t := range models.Targets(nil) {
		if t.Unhealthy {
			names = append(names, t.ID)
		}
	}
	var details []string
	if len(names) > 0 {
		details = append(details, "unhealthy: "+someOf(names))
	}
	if names := withoutCredential(models.issued); len(names) > 0 {
		details = append(details, "no credential can be had, see the log: "+someOf(names))
	}
	if awaited := models.catalog.Awaited(); len(awaited) > 0 {
		details = append(details, "no list of models has come, see the log: "+someOf(awaited))
	}
	if len(details) == 0 {
		return PartStatus{Name: "providers", State: PartOK}
	}
	return degraded("providers", time.Time{}, strings.Join(details, "; "))
}

func someOf(names []string) string {
	if n := len(names); n > maxNamed {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
	}
	return strings.Join(names, ", ")
}

func vncPart(service *desktop.Service, certificate func() error) PartStatus {
	if err := service.Ready(); err != nil {
		return degraded("vnc", time.Time{}, err.Error())
	}
	if certificate != nil {
		if err := certificate(); err != nil {
			return degraded("vnc", time.Time{}, err.Error())
		}
	}
	var down []string
	var oldest time.Time
	for name, source := range service.Sources.All() {
		if since, is := source.Down(); is {
			down = append(down, name)
			if oldest.IsZero() || since.Before(oldest) {
				oldest = since
			}
		}
	}
	if len(down) > 0 {
		slices.Sort(down)
		return degraded("vnc", oldest, "sources do not answer, so that nobody gets a new address of their workstations: "+someOf(down))
	}
	return PartStatus{Name: "vnc", State: PartOK}
}

// Certificate is one that clients are shown.
type Certificate struct {
	Name    string    `json:"name"` // of a site, or the wildcard of viewers
	Expires time.Time `json:"expires_at"`
	RenewBy time.Time `json:"renew_by"` // from then on its renewal is late
}

func (c *conditions) shown() []Certificate {
	if c.certificates == nil {
		return nil
	}
	return c.certificates()
}

// certificatesPart is degraded while a certificate was not renewed in time.
func certificatesPart(shown []Certificate, now time.Time) PartStatus {
	var late []string
	var oldest time.Time
	for _, c := range shown {
		if now.Before(c.RenewBy) {
			continue
		}
		ends := " ends "
		if !now.Before(c.Expires) {
			ends = " ended "
		}
		late = append(late, c.Name+ends+c.Expires.UTC().Format("2006-01-02 15:04 UTC"))
		if oldest.IsZero() || c.RenewBy.Before(oldest) {
			oldest = c.RenewBy
		}
	}
	if len(late) == 0 {
		return PartStatus{Name: "certificates", State: PartOK}
	}
	return degraded("certificates", oldest, "not renewed in time, and the log of Caddy's tls app says why: "+someOf(late))
}

func degraded(name string, since time.Time, detail string) PartStatus {
	return PartStatus{Name: name, State: PartDegraded, Since: timeOrNull(since), Detail: detail}
}
