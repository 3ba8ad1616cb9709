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
	Address      string // of a registered one: for callers that may manage
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
func (v *Inventory) List(tenant string) []View {
	return v.views(func(id ID) bool { return id.Tenant == tenant })
}

// ListAll returns all workstations by tenant and name, for the operator.
func (v *Inventory) ListAll() []View {
	return v.views(func(ID) bool { return true })
}

func (v *Inventory) views(of func(ID) bool) []View {
	s := v.state
	s.mu.Lock()
	now := s.now()
	views := []View{}
	for id := range v.declared {
		if of(id) {
			views = append(views, v.view(id, now))
		}
	}
	for id, p := range s.entries {
		if of(id) && p.registered() && v.declared[id] == nil {
			views = append(views, v.view(id, now))
		}
	}
	s.mu.Unlock()
	slices.SortFunc(views, func(a, b View) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Name, b.Name))
	})
	return views
}

// Get returns one workstation. Fault: not_found.
func (v *Inventory) Get(tenant, name string) (View, error) {
	id := ID{tenant, name}
	v.state.mu.Lock()
	defer v.state.mu.Unlock()
	if !v.has(id) {
		return View{}, notFound(name)
	}
	return v.view(id, v.state.now()), nil
}

// view is called with State.mu held, for what the inventory has.
func (v *Inventory) view(id ID, now time.Time) View {
	view := View{Tenant: id.Tenant, Name: id.Name, Source: SourceDeclared, State: StateAvailable}
	p := v.state.entries[id]
	if p == nil {
		return view
	}
	if v.declared[id] == nil {
		view.Source, view.Address, view.RegisteredAt = SourceRegistered, p.record.Address, p.record.RegisteredAt
	}
	if p.released() {
		view.State, view.ReleasedAt = StateReleased, p.record.ReleasedAt
	}
	view.Sessions = len(p.sessions)
	for _, t := range p.tokens {
		if t.live(now) {
			view.Tokens++
		}
	}
	return view
}

// Sessions returns the open sessions of a workstation, oldest first. Fault: not_found.
func (v *Inventory) Sessions(tenant, name string) ([]SessionView, error) {
	id, s := ID{tenant, name}, v.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if !v.has(id) {
		return nil, notFound(name)
	}
	views := []SessionView{}
	if p := s.entries[id]; p != nil {
		for _, x := range p.sessions {
			views = append(views, SessionView{
				ID: x.ID, Key: x.Pass.Key, TokenID: x.Pass.TokenID, Viewer: x.Viewer, Security: x.Security,
				ViewOnly: x.Pass.ViewOnly, Shared: x.Pass.Shared, Started: x.Started, Until: x.Until(),
				Up: x.Up.Load(), Down: x.Down.Load(),
			})
		}
	}
	slices.SortFunc(views, func(a, b SessionView) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return views, nil
}
