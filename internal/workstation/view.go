package workstation

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Words of a View.
const (
	SourceDeclared   = "declared"   // by the configuration
	SourceRegistered = "registered" // at run time

	StateAvailable = "available"
	StateReleased  = "released"
)

// View is a workstation as it may be shown. It holds no credential.
type View struct {
	Tenant, Name string
	Source       string
	Address      string // of a registered one: for callers who may manage
	State        string
	Sessions     int // open
	Tokens       int // live
	RegisteredAt time.Time
	ReleasedAt   time.Time
}

// SessionView is an open session as it may be shown.
type SessionView struct {
	ID, Key, TokenID string
	Viewer           netip.AddrPort
	Security         string
	ViewOnly, Shared bool
	Started, Until   time.Time
	Up, Down         int64 // bytes so far
}

// List returns a tenant's workstations by name, released ones too.
func (d *Service) List(tenant string) []View {
	return d.views(func(id ID) bool { return id.Tenant == tenant })
}

// ListAll returns all workstations by tenant and name, for the operator.
func (d *Service) ListAll() []View {
	return d.views(func(ID) bool { return true })
}

func (d *Service) views(of func(ID) bool) []View {
	s := d.state
	s.mu.Lock()
	now := s.now()
	views := []View{}
	for id := range d.declared {
		if of(id) {
			views = append(views, d.view(id, now))
		}
	}
	for id, p := range s.entries {
		if of(id) && p.registered() && d.declared[id] == nil {
			views = append(views, d.view(id, now))
		}
	}
	s.mu.Unlock()
	slices.SortFunc(views, func(a, b View) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Name, b.Name))
	})
	return views
}

// Get returns one workstation. Fault: not_found.
func (d *Service) Get(tenant, name string) (View, error) {
	id := ID{tenant, name}
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	if !d.has(id) {
		return View{}, notFound(name)
	}
	return d.view(id, d.state.now()), nil
}

// view is called with State.mu held, for what the service has.
func (d *Service) view(id ID, now time.Time) View {
	v := View{Tenant: id.Tenant, Name: id.Name, Source: SourceDeclared, State: StateAvailable}
	p := d.state.entries[id]
	if p == nil {
		return v
	}
	if d.declared[id] == nil {
		v.Source, v.Address, v.RegisteredAt = SourceRegistered, p.record.Address, p.record.RegisteredAt
	}
	if p.released() {
		v.State, v.ReleasedAt = StateReleased, p.record.ReleasedAt
	}
	v.Sessions = len(p.sessions)
	for _, t := range p.tokens {
		if t.live(now) {
			v.Tokens++
		}
	}
	return v
}

// Sessions returns the open sessions of a workstation, oldest first. Fault:
// not_found.
func (d *Service) Sessions(tenant, name string) ([]SessionView, error) {
	id, s := ID{tenant, name}, d.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if !d.has(id) {
		return nil, notFound(name)
	}
	views := []SessionView{}
	if p := s.entries[id]; p != nil {
		for _, x := range p.sessions {
			views = append(views, SessionView{
				ID: x.ID, Key: x.Key, TokenID: x.TokenID, Viewer: x.Viewer, Security: x.Security,
				ViewOnly: x.ViewOnly, Shared: x.Shared, Started: x.Started, Until: x.until,
				Up: x.Up.Load(), Down: x.Down.Load(),
			})
		}
	}
	slices.SortFunc(views, func(a, b SessionView) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return views, nil
}
