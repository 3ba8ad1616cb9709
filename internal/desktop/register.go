package desktop

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Registry is what changes durably at run time: registrations, and which workstations are released.
// It keeps them in the storage and in the State.
type Registry struct {
	inventory *Inventory
	storage   Storage
	emit      emitter
	ready     atomic.Bool
}

// Register puts a workstation in service, durably, or changes one; a released one is in service
// again. created reports that there was none. What viewers had of another machine of that name ends
// before it returns. For a workstation of the configuration the empty Registration undoes a release,
// and any other is a conflict. Its errors are: workstation_conflict; workstation_exists;
// missing_required_parameter and invalid_value with their param; unsupported_parameter where
// registration is off; workstations_exceeded; storage_unavailable, with nothing changed, or where
// another machine was to come, with the workstation released in memory.
func (g *Registry) Register(ctx context.Context, tenant, name string, r Registration) (v View, created bool, err error) {
	if !g.ready.Load() {
		return View{}, false, errNotStarted()
	}
	id := ID{tenant, name}
	if g.inventory.config.declared[id] != nil {
		if !r.empty() {
			return View{}, false, errDeclared(id)
		}
		if err := g.Restore(ctx, tenant, name); err != nil {
			return View{}, false, err
		}
		v, err = g.inventory.Get(tenant, name)
		return v, false, err
	}
	if err := g.inventory.config.check(id, &r); err != nil {
		return View{}, false, err
	}
	defer g.inventory.state.logins.forget(id) // another address or login may be better
	n, err := g.register(ctx, id, r)
	if err != nil {
		return View{}, false, err
	}
	g.prune(ctx)
	v, err = g.inventory.Get(tenant, name)
	return v, n.created, err
}

func errDeclared(id ID) error {
	return apierror.New(apierror.WorkstationConflict, "workstation %q is declared in the configuration and cannot be registered", id.Name)
}

// register makes a registration that was checked durable, and returns what it has changed.
func (g *Registry) register(ctx context.Context, id ID, r Registration) (n plan, err error) {
	ctx, cancel := forStorage(ctx)
	defer cancel()
	done, err := g.lockRecord(ctx, id)
	if err != nil {
		return plan{}, unavailable(err)
	}
	s, ended := g.inventory.state, 0
	if err := s.catchUp(ctx); err != nil {
		done()
		return plan{}, unavailable(err)
	}
	n, err = g.plan(id, r)
	switch {
	case err != nil:
	case n.needed:
		ended, err = change(ctx, g, n)
	default:
		s.sessions.reopen(ctx, id)
	}
	if n.created {
		s.records.unreserve(id)
	}
	done()
	if n.evicted.Name != "" {
		g.erase(ctx, n.evicted)
	}
	if n.moved && err == nil {
		s.moved(id)
	}
	if n.replaces && err == nil {
		g.emit.released(id, ended)
	}
	return n, err
}

// plan is what a registration will change.
type plan struct {
	record   record
	changes  int   // of the entry when the plan was made
	seen     int64 // the last change of all gateways that it knows
	needed   bool  // false: all is as asked
	created  bool
	renewed  bool   // it was released
	moved    bool   // it has another address or login
	replaces bool   // another machine: what viewers had of the one before ends
	by       string // the key that registers
	evicted  ID     // forgotten for the new one
}

// plan counts a workstation that it will create as registered, until unreserve: two callers cannot
// both create the last one allowed. Where another machine comes, the one before is released in memory
// if no other gateway is there.
func (g *Registry) plan(id ID, r Registration) (n plan, err error) {
	s := g.inventory.state
	if s.shared != nil {
		n.seen = s.shared.seen.Load()
	}
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	p, now := s.records.byID[id], s.now()
	n.created, n.renewed, n.by = !p.registered(), p.released(), r.By
	if err := r.mayReplace(id, p); err != nil {
		return plan{}, err
	}
	_, ended := p.expired(now)
	n.replaces = p.registered() && !p.released() && (p.record.Machine != r.Machine || ended)
	n.needed = n.created || n.renewed || !p.has(&r)
	n.moved = !n.created && (p.record.Address != r.Address || p.record.Credential != r.Credential)
	if n.created {
		if n.evicted, err = s.records.reserve(id, g.inventory.config.policy.MaxRegistered); err != nil {
			return plan{}, err
		}
	}
	if n.replaces && s.shared == nil {
		s.records.release(p, false)
	}
	if p != nil {
		n.record, n.changes = p.record, p.changes
	}
	n.record.describe(id, r, now)
	if n.created || n.renewed || n.replaces {
		n.record.RegisteredAt = n.record.ChangedAt
	}
	return n, nil
}

// describe makes r the description of a workstation in service.
func (r *record) describe(id ID, as Registration, now time.Time) {
	r.touch(now)
	r.Tenant, r.Name, r.Registration = id.Tenant, id.Name, as
	r.Declared = false // the configuration has it no more
	r.ReleasedAt, r.ExpiresAt = time.Time{}, time.Time{}
	if as.ExpiresIn > 0 {
		r.ExpiresAt = r.ChangedAt.Add(as.ExpiresIn)
	}
}

// mayReplace refuses what a source must not touch.
func (r *Registration) mayReplace(id ID, p *entry) error {
	switch {
	case !p.registered() || p.released():
		return nil
	case r.New:
		return apierror.New(apierror.WorkstationExists, "workstation %q is registered already", id.Name)
	case p.record.Source != "" && p.record.Source != r.Source:
		return apierror.New(apierror.WorkstationConflict, "workstation %q belongs to the source %q until it is released", id.Name, p.record.Source).WithParam("source")
	}
	return nil
}
