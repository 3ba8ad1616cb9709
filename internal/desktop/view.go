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
	SourceRegistered = "registered" // at run time, by no source

	StateAvailable = "available"
	StateExpired   = "expired" // its registration has ended: no addresses are issued
	StateReleased  = "released"
	StateUnlisted  = "unlisted" // its source has no list, or no answer: it may not be there
)

// View is a workstation as it may be shown. It holds no credential.
type View struct {
	Tenant, Name string
	Source       string            // SourceDeclared, SourceRegistered, or the name of a source
	Address      string            // of a registered one: for callers that may manage
	Machine      string            // as it was registered
	Labels       map[string]string // the caller must not change them
	State        string
	Sessions     int    // open
	Tokens       int    // live
	Holder       string // of its input; "": nobody
	Requests     int    // of agents that wait for a person
	RegisteredAt time.Time
	ReleasedAt   time.Time
	ExpiresAt    time.Time
	Automation   Automation // what agents may do, by all rules but those of their keys; zero: nothing
	Change       int64      // another one after each change of the registration; 0: there was none
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
	Rules               SessionRules
	Role                string // see [Role]
	Guest               Guest  // of which session, if of one
	Guests              int    // open ones of it
	Holds               bool   // the input of the workstation
	Started, Until      time.Time
	Up, Down            int64 // bytes so far
}

// Query says which workstations a list has.
type Query struct {
	Sees   func(tenant string) bool
	Source string            // as in views; "" = all
	Labels map[string]string // a workstation must have all of them
	Limit  int               // of one page; 0 = all
	After  string            // what the page before has returned as next
}

func (q *Query) matches(view *View) bool {
	for name, value := range q.Labels {
		if has, ok := view.Labels[name]; !ok || has != value {
			return false
		}
	}
	return (q.Source == "" || q.Source == view.Source) && view.place() > q.After
}

// place is where the workstation is in lists: its tenant and name, neither of which has a slash.
func (v *View) place() string { return v.Tenant + "/" + v.Name }

// List returns the workstations of the tenants that sees lets through, by tenant and name, released
// ones too.
func (v *Inventory) List(sees func(tenant string) bool) []View {
	views, _ := Query{Sees: sees}.Page(v)
	return views
}

// Page returns one page of the list. next is "" after the last.
func (q Query) Page(v *Inventory) (views []View, next string) {
	s := v.state
	s.records.mu.Lock()
	views = []View{}
	add := func(id ID) {
		if view := v.view(id); q.matches(&view) {
			views = append(views, view)
		}
	}
	for id := range v.config.declared {
		if q.Sees(id.Tenant) {
			add(id)
		}
	}
	for id, p := range s.records.byID {
		if q.Sees(id.Tenant) && p.registered() && v.config.declared[id] == nil {
			add(id)
		}
	}
	s.records.mu.Unlock()
	views = append(views, sourcesOf(v).listed(&q)...)
	slices.SortFunc(views, func(a, b View) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Name, b.Name))
	})
	if q.Limit > 0 && len(views) > q.Limit {
		views = views[:q.Limit]
		next = views[q.Limit-1].place()
	}
	v.addNumbers(views)
	return views, next
}

// Get returns one workstation. It fails with [apierror.NotFound].
func (v *Inventory) Get(tenant, name string) (View, error) {
	id := ID{tenant, name}
	if err := v.check(id); err != nil {
		return View{}, err
	}
	source := sourcesOf(v).of(id)
	v.state.records.mu.Lock()
	views := []View{v.view(id)}
	v.state.records.mu.Unlock()
	if source != nil {
		views[0] = source.view(id)
	}
	v.addNumbers(views)
	if source != nil && views[0].State == "" && views[0].Sessions+views[0].Tokens == 0 {
		return View{}, notFound(name)
	}
	views[0].State = cmp.Or(views[0].State, StateUnlisted)
	return views[0], nil
}

// check refuses a workstation that the inventory does not have.
func (v *Inventory) check(id ID) error {
	v.state.records.mu.Lock()
	defer v.state.records.mu.Unlock()
	if !v.has(id) {
		return notFound(id.Name)
	}
	return nil
}

// addNumbers sets the numbers of all gateways in views; without an answer of the store, those of this one.
func (v *Inventory) addNumbers(views []View) {
	if len(views) == 0 {
		return
	}
	ids := make([]ID, len(views))
	for i, view := range views {
		ids[i] = ID{view.Tenant, view.Name}
	}
	ctx, cancel := message()
	defer cancel()
	known, err := v.state.sessions.store.Load(ctx, ids...)
	now := v.state.now()
	for i, id := range ids {
		if err == nil {
			views[i].Sessions, views[i].Tokens = len(known[i].open(now)), known[i].live(now)
			views[i].Requests = len(requests(known[i], now))
			if by := holding(known[i], now); by != nil {
				views[i].Holder = by.holder()
			}
		} else {
			views[i].Sessions = len(v.state.sessions.views(id))
		}
	}
}

// view is called with the lock of the records held, for what the inventory has.
func (v *Inventory) view(id ID) View {
	view := View{Tenant: id.Tenant, Name: id.Name, Source: SourceDeclared, State: StateAvailable}
	p := v.state.records.byID[id]
	if declared := v.config.declared[id]; declared != nil {
		view.Automation = v.config.automates(id, declared.Session)
	} else if p != nil {
		r := &p.record
		view.Automation = v.config.automates(id, r.Session)
		view.Source, view.Address, view.RegisteredAt = cmp.Or(r.Source, SourceRegistered), r.Address, r.RegisteredAt
		view.Machine, view.Labels, view.ExpiresAt = r.Machine, r.Labels, r.ExpiresAt
		view.Change = r.ChangedAt.UnixNano()
	}
	if expired, _ := p.expired(v.state.now()); expired {
		view.State = StateExpired
	}
	if p.released() {
		view.State, view.ReleasedAt = StateReleased, p.record.ReleasedAt
	}
	return view
}

// Sessions returns the open sessions of a workstation, oldest first. It fails with
// [apierror.NotFound].
func (v *Inventory) Sessions(tenant, name string) ([]SessionView, error) {
	id := ID{tenant, name}
	if err := v.check(id); err != nil {
		return nil, err
	}
	return v.views(func(SessionView) bool { return true }, id), nil
}

// OpenSessions returns the open sessions that sees lets through, oldest first.
func (v *Inventory) OpenSessions(sees func(SessionView) bool) []SessionView {
	return v.views(sees)
}

// views returns the sessions at workstations, without a name at all, that sees lets through, oldest
// first. Without an answer of the store it has those of this gateway.
func (v *Inventory) views(sees func(SessionView) bool, ids ...ID) []SessionView {
	ctx, cancel := message()
	defer cancel()
	here := v.state.sessions.views(ids...)
	store := v.state.sessions.store
	known, _ := store.Open(ctx, ids...) // lists show what there is
	byID := make(map[string]int, len(here))
	for i := range here {
		byID[here[i].ID] = i
	}
	for _, w := range known {
		for _, x := range w.open(v.state.now()) {
			if i, ours := byID[x.ID]; ours {
				here[i].Node = x.view(w.ID).Node
			} else if x.Node != store.Node() { // one of this gateway has ended
				view := x.view(w.ID)
				view.Holds = holding(w, v.state.now()) == x
				here = append(here, view)
			}
		}
	}
	guests := make(map[string]int)
	for i := range here {
		guests[here[i].Guest.Host]++
	}
	v.state.records.mu.Lock()
	views := slices.DeleteFunc(here, func(view SessionView) bool {
		return !v.has(ID{view.Tenant, view.Workstation}) || !sees(view)
	})
	v.state.records.mu.Unlock()
	for i := range views {
		views[i].Guests = guests[views[i].ID]
	}
	slices.SortFunc(views, func(a, b SessionView) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return views
}

// views returns the open sessions of this gateway at workstations; without a name at all.
func (s *sessions) views(ids ...ID) []SessionView {
	views := []SessionView{}
	for _, x := range s.of(ids...) {
		if r, ok := x.snapshot(); ok {
			view := r.view(x.Workstation)
			view.Up, view.Down, view.Holds = x.Up.Load(), x.Down.Load(), x.Input.holds()
			views = append(views, view)
		}
	}
	return views
}

// view is what lists show of a session.
func (x *SessionRecord) view(at ID) SessionView {
	by := x.Token.Issuer
	return SessionView{
		Tenant: at.Tenant, Workstation: at.Name, ID: x.ID, Key: by.Key, User: by.User, TokenID: x.Token.Hash.id(), Node: x.NodeName(),
		Viewer: x.Viewer, Security: x.Security, ViewOnly: x.Token.ViewOnly || x.Rules.ViewOnly, Shared: x.Shared, Rules: x.Rules, Role: Role(by, x.Token.Guest), Guest: x.Token.Guest, Started: x.Started, Until: x.Until,
		Up: x.Up, Down: x.Down,
	}
}
