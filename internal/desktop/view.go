package desktop

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
	Tenant, Workstation string
	ID, Key, TokenID    string
	User                string // who used the key, if that is known
	Node                string // the gateway that has it, where there are several
	Viewer              netip.AddrPort
	Security            string
	ViewOnly, Shared    bool
	Started, Until      time.Time
	Up, Down            int64 // bytes so far
}

// List returns the workstations of the tenants that sees lets through, by tenant and name, released
// ones too.
func (v *Inventory) List(sees func(tenant string) bool) []View {
	s := v.state
	s.mu.Lock()
	now := s.now()
	views := []View{}
	for id := range v.declared {
		if sees(id.Tenant) {
			views = append(views, v.view(id, now))
		}
	}
	for id, p := range s.entries {
		if sees(id.Tenant) && p.registered() && v.declared[id] == nil {
			views = append(views, v.view(id, now))
		}
	}
	s.mu.Unlock()
	v.addShared(views)
	slices.SortFunc(views, func(a, b View) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Name, b.Name))
	})
	return views
}

// Get returns one workstation. It fails with [apierror.NotFound].
func (v *Inventory) Get(tenant, name string) (View, error) {
	id := ID{tenant, name}
	v.state.mu.Lock()
	if !v.has(id) {
		v.state.mu.Unlock()
		return View{}, notFound(name)
	}
	views := []View{v.view(id, v.state.now())}
	v.state.mu.Unlock()
	v.addShared(views)
	return views[0], nil
}

// addShared sets the numbers of all gateways in views.
func (v *Inventory) addShared(views []View) {
	if v.state.shared == nil || len(views) == 0 {
		return
	}
	ids := make([]ID, len(views))
	for i, view := range views {
		ids[i] = ID{view.Tenant, view.Name}
	}
	desks := v.state.shared.elsewhere(ids)
	for i, id := range ids {
		if d, ok := desks[id]; ok {
			views[i].Sessions, views[i].Tokens = len(d.Sessions), d.Tokens
		}
	}
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
	for _, x := range p.sessions {
		if !x.opening() {
			view.Sessions++
		}
	}
	for _, t := range p.tokens {
		if t.live(now) {
			view.Tokens++
		}
	}
	return view
}

// Sessions returns the open sessions of a workstation, oldest first. It fails with
// [apierror.NotFound].
func (v *Inventory) Sessions(tenant, name string) ([]SessionView, error) {
	id, s := ID{tenant, name}, v.state
	s.mu.Lock()
	if !v.has(id) {
		s.mu.Unlock()
		return nil, notFound(name)
	}
	views := []SessionView{}
	if p := s.entries[id]; p != nil {
		for _, x := range p.sessions {
			if !x.opening() {
				views = append(views, x.view())
			}
		}
	}
	s.mu.Unlock()
	views = v.withElsewhere(views, []ID{id}, func(SessionView) bool { return true })
	sortSessions(views)
	return views, nil
}

// OpenSessions returns the open sessions that sees lets through, oldest first.
func (v *Inventory) OpenSessions(sees func(SessionView) bool) []SessionView {
	s := v.state
	s.mu.Lock()
	views := []SessionView{}
	for id, p := range s.entries {
		if len(p.sessions) == 0 || !v.has(id) {
			continue
		}
		for _, x := range p.sessions {
			if view := x.view(); !x.opening() && sees(view) {
				views = append(views, view)
			}
		}
	}
	s.mu.Unlock()
	views = v.withElsewhere(views, nil, sees)
	sortSessions(views)
	return views
}

// withElsewhere adds the sessions of other gateways at some workstations, nil for all.
func (v *Inventory) withElsewhere(views []SessionView, ids []ID, sees func(SessionView) bool) []SessionView {
	s := v.state
	if s.shared == nil {
		return views
	}
	here := make(map[string]int, len(views))
	for i := range views {
		here[views[i].ID] = i
	}
	desks := s.shared.elsewhere(ids)
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, d := range desks {
		for _, view := range d.Sessions {
			if i, ours := here[view.ID]; ours {
				views[i].Node = view.Node
			} else if v.has(id) && sees(view) {
				views = append(views, view)
			}
		}
	}
	return views
}

// view is called with State.mu held.
func (x *Session) view() SessionView {
	return SessionView{
		Tenant: x.Pass.Workstation.Tenant, Workstation: x.Pass.Workstation.Name,
		ID: x.ID, Key: x.Pass.Key, User: x.Pass.User, TokenID: x.Pass.TokenID, Viewer: x.Viewer, Security: x.Security,
		ViewOnly: x.Pass.ViewOnly, Shared: x.Pass.Shared, Started: x.Started, Until: x.Pass.token.until,
		Up: x.Up.Load(), Down: x.Down.Load(),
	}
}

func sortSessions(views []SessionView) {
	slices.SortFunc(views, func(a, b SessionView) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
}
