package desktop

import (
	"context"
	"net/netip"
	"sync/atomic"

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

// Registration is a workstation as a caller describes it.
type Registration struct {
	Address    string // host:port
	Credential string // the name of a declared credential; "" = none
}

// Register puts a workstation in service, durably, or changes one; a released one is in service
// again. created reports that there was none. For a workstation of the configuration the empty
// Registration undoes a release, and any other is a conflict. Its errors are: workstation_conflict;
// missing_required_parameter and invalid_value with their param; unsupported_parameter where
// registration is off; workstations_exceeded; storage_unavailable, with nothing changed.
func (g *Registry) Register(ctx context.Context, tenant, name string, r Registration) (v View, created bool, err error) {
	if !g.ready.Load() {
		return View{}, false, errNotStarted()
	}
	id := ID{tenant, name}
	if g.inventory.config.declared[id] != nil {
		if r != (Registration{}) {
			return View{}, false, apierror.New(apierror.WorkstationConflict,
				"workstation %q is declared in the configuration and cannot be registered", name)
		}
		if err := g.Restore(ctx, tenant, name); err != nil {
			return View{}, false, err
		}
		v, err = g.inventory.Get(tenant, name)
		return v, false, err
	}
	if err := g.checkRegistration(id, r); err != nil {
		return View{}, false, err
	}
	defer g.inventory.state.logins.forget(id) // another address or login may be better
	created, err = g.register(ctx, id, r)
	if err != nil {
		return View{}, false, err
	}
	g.prune(ctx)
	v, err = g.inventory.Get(tenant, name)
	return v, created, err
}

func (g *Registry) checkRegistration(id ID, r Registration) error {
	if err := id.check(); err != nil {
		return apierror.New(apierror.InvalidValue, "%v", err).WithParam("workstation_id")
	}
	if len(g.inventory.config.policy.Networks) == 0 {
		return apierror.New(apierror.UnsupportedParameter,
			"workstations cannot be registered at run time: the option register_networks is not set").WithParam("address")
	}
	if r.Address == "" {
		return apierror.New(apierror.MissingParameter, "address is missing: host:port of the VNC server").WithParam("address")
	}
	addr, port, err := parseAddress(r.Address)
	if err != nil {
		return apierror.New(apierror.InvalidValue, "address: %v", err).WithParam("address")
	}
	if addr.IsValid() && !allowed(g.inventory.config.policy.Networks, netip.AddrPortFrom(addr, port), nil) {
		return apierror.New(apierror.InvalidValue,
			"address %q is not in a network that the option register_networks allows", r.Address).WithParam("address")
	}
	if c, ok := g.inventory.config.policy.Credentials[r.Credential]; r.Credential != "" && (!ok || !c.allows(id.Tenant)) {
		return apierror.New(apierror.InvalidValue, "there is no credential %q", clip(r.Credential)).WithParam("credential")
	}
	return nil
}

func (g *Registry) register(ctx context.Context, id ID, r Registration) (created bool, err error) {
	ctx, cancel := forStorage(ctx)
	defer cancel()
	done, err := g.lockRecord(ctx, id)
	if err != nil {
		return false, unavailable(err)
	}
	if err := g.inventory.state.catchUp(ctx); err != nil {
		done()
		return false, unavailable(err)
	}
	fresh, err := g.plan(id, r)
	switch {
	case err != nil:
	case fresh.needed:
		err = g.change(ctx, fresh.record, fresh.changes)
	default:
		g.inventory.state.sessions.reopen(ctx, id)
	}
	if fresh.created {
		g.inventory.state.records.unreserve(id)
	}
	done()
	if fresh.evicted.Name != "" {
		g.erase(ctx, fresh.evicted)
	}
	return fresh.created, err
}

// plan is what a registration will change.
type plan struct {
	record  record
	changes int  // of the entry when the plan was made
	needed  bool // false: all is as asked
	created bool
	evicted ID // forgotten for the new one
}

// plan counts a workstation that it will create as registered, until unreserve: two callers cannot
// both create the last one allowed.
func (g *Registry) plan(id ID, r Registration) (plan, error) {
	s := g.inventory.state
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	p := s.records.byID[id]
	var n plan
	if p != nil {
		n.record, n.changes = p.record, p.changes
	}
	now := s.now()
	n.created = !p.registered()
	n.needed = n.created || p.released() || p.unsaved || p.record.Address != r.Address || p.record.Credential != r.Credential
	if n.created {
		if s.records.registered[id.Tenant] >= g.inventory.config.policy.MaxRegistered {
			oldest := s.records.oldestReleased(id.Tenant)
			if oldest == nil {
				return plan{}, apierror.New(apierror.WorkstationsExceeded,
					"%d workstations are registered; one must be released first", s.records.registered[id.Tenant])
			}
			n.evicted = oldest.id
			s.records.drop(oldest)
		}
		s.records.registered[id.Tenant]++
	}
	if n.created || p.released() {
		n.record.RegisteredAt = now.UTC().Round(0)
	}
	n.record.Version, n.record.Tenant, n.record.Name = recordVersion, id.Tenant, id.Name
	n.record.Address, n.record.Credential = r.Address, r.Credential
	n.record.Declared = false // the configuration has it no more
	n.record.ReleasedAt = record{}.ReleasedAt
	n.record.touch(now)
	return n, nil
}
