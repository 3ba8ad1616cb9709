package gateway

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// conditionAge is how old the states of the parts may be that a probe gets. Probes need no key, and
// looking at all targets of providers costs time.
const conditionAge = time.Second

// conditions keeps the last states of the parts.
type conditions struct {
	certificate  func() error                // of viewers; nil without workstations
	certificates func() []report.Certificate // that clients are shown; nil: none

	mu   sync.Mutex // guards the following
	at   time.Time
	last []report.PartStatus
}

// ReadCondition returns the state of a gateway and of its parts, up to a second old. It asks no
// provider. Until the first configuration of the process has started, and after the process was
// asked to stop, the gateway is not ready; a reload changes nothing.
func ReadCondition(g *Gateway) report.Condition {
	current := g.state.generations.current()
	switch {
	case g.state.exit.Load() != nil:
		return report.Condition{State: report.StateShuttingDown}
	case current == nil:
		return report.Condition{State: report.StateStarting}
	}
	c := report.Condition{State: report.StateReady, Parts: partsOf(current.gateway)}
	for i := range c.Parts {
		if c.Parts[i].State == report.PartUnavailable {
			c.State = report.StateUnavailable
		}
	}
	return c
}

// partsOf returns the states of the parts of g. The caller must not change them.
func partsOf(g *Gateway) []report.PartStatus {
	c := &g.conditions
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := g.now(); c.last == nil || now.Sub(c.at) >= conditionAge {
		status := g.state.stores.status()
		c.at, c.last = now, []report.PartStatus{storePart(status), ledgerPart(status), providersPart(g.models)}
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
func storePart(s store.Status) report.PartStatus {
	if s.Err == nil {
		return report.PartStatus{Name: "store", State: report.PartOK}
	}
	p := degraded("store", s.Since, fmt.Sprintf("%v; %d changes (%d bytes) wait in memory", s.Err, s.Waiting, s.WaitingBytes))
	if !s.Blocked {
		p.State = report.PartUnavailable
	}
	return p
}

func ledgerPart(s store.Status) report.PartStatus {
	switch {
	case s.RedoErr != nil:
		return degraded("ledger", s.RedoSince, fmt.Sprintf("the redo log cannot be written: %v; each call under a hard budget waits for a commit", s.RedoErr))
	case s.Err != nil && !s.Blocked:
		return degraded("ledger", s.Since, "calls under a budget follow on_store_failure")
	case s.Err != nil:
		return degraded("ledger", s.Since, "reservations are kept by the redo log alone")
	}
	return report.PartStatus{Name: "ledger", State: report.PartOK}
}

// maxNamed bounds how many targets, or providers, a detail names.
const maxNamed = 5

// providersPart is degraded while a target that the catalog knows is unhealthy, a cloud gives no
// credential, also for an MCP server, or a list of models has never come.
func providersPart(index *models.Index) report.PartStatus {
	var names []string
	for _, t := range index.Targets(nil) {
		if t.Unhealthy {
			names = append(names, t.ID)
		}
	}
	var details []string
	if len(names) > 0 {
		details = append(details, "unhealthy: "+someOf(names))
	}
	if names := models.WithoutCredential(index.Issued); len(names) > 0 {
		details = append(details, "no credential can be had, see the log: "+someOf(names))
	}
	if awaited := index.Awaited(); len(awaited) > 0 {
		details = append(details, "no list of models has come, see the log: "+someOf(awaited))
	}
	if len(details) == 0 {
		return report.PartStatus{Name: "providers", State: report.PartOK}
	}
	return degraded("providers", time.Time{}, strings.Join(details, "; "))
}

func someOf(names []string) string {
	if n := len(names); n > maxNamed {
		names = append(names[:maxNamed], fmt.Sprintf("and %d more", n-maxNamed))
	}
	return strings.Join(names, ", ")
}

func vncPart(service *desktop.Service, certificate func() error) report.PartStatus {
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
	return report.PartStatus{Name: "vnc", State: report.PartOK}
}

func (c *conditions) shown() []report.Certificate {
	if c.certificates == nil {
		return nil
	}
	return c.certificates()
}

// certificatesPart is degraded while a certificate was not renewed in time.
func certificatesPart(shown []report.Certificate, now time.Time) report.PartStatus {
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
		return report.PartStatus{Name: "certificates", State: report.PartOK}
	}
	return degraded("certificates", oldest, "not renewed in time, and the log of Caddy's tls app says why: "+someOf(late))
}

func degraded(name string, since time.Time, detail string) report.PartStatus {
	return report.PartStatus{Name: name, State: report.PartDegraded, Since: timeOrNull(since), Detail: detail}
}
