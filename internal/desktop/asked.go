package desktop

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// ControlPlane is what knows workstations. Its answers are kept, and it is not asked while it is
// down. Package source has one.
type ControlPlane interface {
	Name() string
	// Resolve asks for a workstation, unless an answer still counts that was asked for at since
	// or later.
	Resolve(q guest.Question, since time.Time) (guest.Answer, error)
	// Last returns the last answer to a question, if it was an "allow", was asked for at since
	// or later, and is not too old.
	Last(q guest.Question, since time.Time) (guest.Answer, bool)
	// List returns the workstations of a tenant. The error is [guest.ErrNoList] without a list.
	List(tenant string) ([]guest.Item, error)
	// Drop forgets all answers about a workstation.
	Drop(tenant, name string)
	// Expire has the next question asked again. Last still has the answer.
	Expire(q guest.Question)
	// Reject forgets and logs an "allow" that leads nowhere, and returns the error for it.
	Reject(q guest.Question, why error) error
	// Down returns since when it does not answer; false while it does.
	Down() (since time.Time, down bool)
	// Inherit has it go on with the answers of the one before, if that is the same control plane.
	// It is called before it is used.
	Inherit(before ControlPlane)
}

// Source is a control plane that is asked for the workstations of tenants. One that is declared or
// registered is never asked for.
type Source struct {
	ControlPlane
	Tenants  []string
	Networks []netip.Prefix // where they may be, as Policy.Networks
	Ports    Ports
}

// Sources are the control planes of a configuration.
type Sources struct {
	inventory *Inventory
	emit      emitter
}

// newSources checks sources and returns them by tenant. Those of the service that started last give
// them their answers.
func newSources(all []Source, state *State) (map[string]*Source, error) {
	byTenant := make(map[string]*Source)
	names := make(map[string]bool)
	for _, s := range all {
		name := s.Name()
		switch {
		case !validSource.MatchString(name) || name == SourceDeclared || name == SourceRegistered || names[name]:
			return nil, fmt.Errorf("source %.80q: a name is 1 to 64 letters, digits and . _ -, and is given once", name)
		case len(s.Networks) == 0:
			return nil, fmt.Errorf("source %q: networks: without one no workstation can be reached", name)
		}
		names[name] = true
		networks := make([]netip.Prefix, len(s.Networks))
		for i, n := range s.Networks {
			var err error
			if networks[i], err = cleanNetwork(n); err != nil {
				return nil, fmt.Errorf("source %q: networks: %w", name, err)
			}
		}
		s.Networks = networks
		for _, tenant := range s.Tenants {
			switch other := byTenant[tenant]; {
			case !validTenant.MatchString(tenant):
				return nil, fmt.Errorf("source %q: %.80q is not the name of a tenant", name, tenant)
			case other != nil:
				return nil, fmt.Errorf("source %q: tenant %q has the source %q already", name, tenant, other.Name())
			}
			byTenant[tenant] = &s
		}
		for _, before := range state.sourcesNow(nil) {
			s.Inherit(before.ControlPlane)
		}
	}
	return byTenant, nil
}

// sourcesNow returns the sources of the service that started last, and makes others those unless they
// are nil.
func (s *State) sourcesNow(others map[string]*Source) map[string]*Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	if others != nil {
		s.sources = others
	}
	return s.sources
}

// of returns the source that is asked for a workstation, nil where none is.
func (x *Sources) of(id ID) *Source {
	config, records := x.inventory.config, &x.inventory.state.records
	s := config.sources[id.Tenant]
	if s == nil || config.declared[id] != nil {
		return nil
	}
	records.mu.Lock()
	defer records.mu.Unlock()
	if records.byID[id].registered() {
		return nil
	}
	return s
}

// All returns the sources, by name.
func (x *Sources) All() map[string]ControlPlane {
	all := make(map[string]ControlPlane)
	for _, s := range x.inventory.config.sources {
		all[s.Name()] = s.ControlPlane
	}
	return all
}

// place is what a source has said of a workstation; the zero value where none is asked.
type place struct {
	target  *Target
	machine string
	asked   time.Time
}

// session is what it allows a session.
func (p *place) session() SessionRules {
	if p.target == nil {
		return SessionRules{}
	}
	return p.target.Session
}

// place makes a target of an "allow".
func (x *Sources) place(s *Source, id ID, a *guest.Answer) (place, error) {
	addr, port, err := parseAddress(a.Address)
	switch {
	case err != nil:
		return place{}, err
	case addr.IsValid() && !allowed(s.Networks, netip.AddrPortFrom(addr, port), nil):
		return place{}, errOutside
	case !s.Ports.has(port):
		return place{}, errPort
	}
	t := &Target{Address: a.Address, guarded: true, networks: s.Networks, ports: s.Ports}
	if !t.login(x.inventory.config.policy.Credentials, a.Credential, id, a.Generation) {
		return place{}, fmt.Errorf("there is no credential %q for the tenant, or it needs a generation", clip(a.Credential))
	}
	if l := a.Login; l != nil {
		t.User, t.Password = l.User, l.Password
		if l.TLS != nil {
			config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: l.TLS.ServerName}
			if l.TLS.PinnedKey != "" {
				if err := PinKey(config, l.TLS.PinnedKey); err != nil {
					return place{}, err
				}
			}
			t.TLS = namedTLS(config, a.Address)
		}
	}
	if a.Session != nil {
		if t.Session, err = ParseSessionRules(a.Session); err == nil {
			err = x.inventory.config.policy.mayRecord(t.Session)
		}
		if err != nil {
			return place{}, err
		}
	}
	return place{t, a.Generation, a.Asked}, nil
}

// ask asks the source of a workstation, if it has one, for an address that somebody wants. Answers
// that were asked for before since do not count. Its errors are those of Issue.
func (x *Sources) ask(by Issuer, id ID, o Options, since time.Time) (place, error) {
	s := x.of(id)
	if s == nil {
		return place{}, nil
	}
	if id.check() != nil {
		return place{}, notFound(id.Name)
	}
	ctx, cancel := message()
	defer cancel()
	known, err := x.inventory.state.sessions.store.Load(ctx, id)
	if err != nil {
		return place{}, errNoStore(err)
	}
	if known[0].Refreshed.After(since) {
		since = known[0].Refreshed
	}
	q := question(guest.Issue, id, by, o.Client, x.inventory.config.viewOnly(&o) || o.Rules.ViewOnly)
	a, err := s.Resolve(q, since)
	if err != nil {
		return place{}, errSource(err)
	}
	switch a.Decision {
	case guest.Deny:
		return place{}, apierror.New(apierror.WorkstationDenied, "%s", reasonOf(&a, WorkstationDenied))
	case guest.Unknown:
		return place{}, notFound(id.Name)
	case guest.Wait:
		refusal := apierror.New(apierror.WorkstationStarting, "%s", reasonOf(&a, WorkstationStarting))
		refusal.RetryAfter = a.RetryAfter
		return place{}, refusal
	}
	at, err := x.place(s, id, &a)
	if err != nil {
		return place{}, errSource(s.Reject(q, err))
	}
	for _, open := range known[0].open(x.inventory.state.now()) {
		if open.Token.Machine != a.Generation { // it must not occupy the new machine, nor have guests
			x.replaced(id, &a)
			break
		}
	}
	return at, nil
}

func errSource(cause error) error {
	return apierror.New(apierror.SourceUnavailable, "the source of the tenant's workstations does not answer now").WithCause(cause)
}

func question(reason guest.Reason, id ID, by Issuer, client netip.Addr, viewOnly bool) guest.Question {
	return guest.Question{
		Reason: reason, Tenant: id.Tenant, Name: id.Name, ViewOnly: viewOnly,
		Caller: guest.Caller{Key: by.Key, User: by.User, Address: plain(client)},
	}
}

// reasonOf is what the control plane wants the person to read.
func reasonOf(a *guest.Answer, code RefusalCode) string {
	if a.Reason != "" {
		return a.Reason
	}
	return refusals[code].text
}
