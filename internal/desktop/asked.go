package desktop

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/source"
)

// Source is a control plane that is asked for the workstations of tenants. One that is declared or
// registered is never asked for.
type Source struct {
	*source.Source
	Tenants  []string
	Networks []netip.Prefix // where they may be, as Policy.Networks
	Ports    Ports
}

// addSources checks sources and makes them those of the configuration. Those of the configuration
// before give them their answers.
func (c *configuration) addSources(all []Source, state *State) error {
	c.sources = make(map[string]*Source)
	names := make(map[string]bool)
	for _, s := range all {
		name := s.Name()
		switch {
		case !validSource.MatchString(name) || name == SourceDeclared || name == SourceRegistered || names[name]:
			return fmt.Errorf("source %.80q: a name is 1 to 64 letters, digits and . _ -, and is given once", name)
		case len(s.Networks) == 0:
			return fmt.Errorf("source %q: networks: without one no workstation can be reached", name)
		}
		names[name] = true
		networks := make([]netip.Prefix, len(s.Networks))
		for i, n := range s.Networks {
			var err error
			if networks[i], err = cleanNetwork(n); err != nil {
				return fmt.Errorf("source %q: networks: %w", name, err)
			}
		}
		s.Networks = networks
		for _, tenant := range s.Tenants {
			switch other := c.sources[tenant]; {
			case !validTenant.MatchString(tenant):
				return fmt.Errorf("source %q: %.80q is not the name of a tenant", name, tenant)
			case other != nil:
				return fmt.Errorf("source %q: tenant %q has the source %q already", name, tenant, other.Name())
			}
			c.sources[tenant] = &s
		}
		for _, before := range state.sourcesNow(nil) {
			s.Inherit(before.Source)
		}
	}
	return nil
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

// sourceOf returns the source that is asked for a workstation, nil where none is.
func (v *Inventory) sourceOf(id ID) *Source {
	s := v.config.sources[id.Tenant]
	if s == nil || v.config.declared[id] != nil {
		return nil
	}
	v.state.records.mu.Lock()
	defer v.state.records.mu.Unlock()
	if v.state.records.byID[id].registered() {
		return nil
	}
	return s
}

// Sources returns the sources of the configuration, by name.
func (v *Inventory) Sources() map[string]*source.Source {
	all := make(map[string]*source.Source)
	for _, s := range v.config.sources {
		all[s.Name()] = s.Source
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
func (v *Inventory) place(s *Source, id ID, a *source.Answer) (place, error) {
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
	if !v.config.login(t, a.Credential, id, a.Generation) {
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
		if t.Session, err = ParseSessionRules(a.Session); err != nil {
			return place{}, err
		}
	}
	return place{t, a.Generation, a.Asked}, nil
}

// ask asks the source of a workstation, if it has one, for an address that somebody wants. Answers
// that were asked for before since do not count. Its errors are those of Issue.
func (w *Service) ask(by Issuer, id ID, o Options, since time.Time) (place, error) {
	s := w.sourceOf(id)
	if s == nil {
		return place{}, nil
	}
	if id.check() != nil {
		return place{}, notFound(id.Name)
	}
	ctx, cancel := message()
	defer cancel()
	known, err := w.state.sessions.store.Load(ctx, id)
	if err != nil {
		return place{}, errNoStore(err)
	}
	if known[0].Refreshed.After(since) {
		since = known[0].Refreshed
	}
	q := question(source.Issue, id, by, o.Client, o.ViewOnly != nil && *o.ViewOnly || o.Rules.ViewOnly)
	a, err := s.Resolve(q, since)
	if err != nil {
		return place{}, errSource(err)
	}
	switch a.Decision {
	case source.Deny:
		return place{}, apierror.New(apierror.WorkstationDenied, "%s", reasonOf(&a, WorkstationDenied))
	case source.Unknown:
		return place{}, notFound(id.Name)
	case source.Wait:
		refusal := apierror.New(apierror.WorkstationStarting, "%s", reasonOf(&a, WorkstationStarting))
		refusal.RetryAfter = a.RetryAfter
		return place{}, refusal
	}
	at, err := w.place(s, id, &a)
	if err != nil {
		return place{}, errSource(s.Reject(q, err))
	}
	return at, nil
}

func errSource(cause error) error {
	return apierror.New(apierror.SourceUnavailable, "the source of the tenant's workstations does not answer now").WithCause(cause)
}

func question(reason source.Reason, id ID, by Issuer, client netip.Addr, viewOnly bool) source.Question {
	return source.Question{
		Reason: reason, Tenant: id.Tenant, Name: id.Name, ViewOnly: viewOnly,
		Caller: source.Caller{Key: by.Key, User: by.User, Address: plain(client)},
	}
}

// reasonOf is what the control plane wants the person to read.
func reasonOf(a *source.Answer, code RefusalCode) string {
	if a.Reason != "" {
		return a.Reason
	}
	return refusals[code].text
}

// Locate asks the source of the workstation, if it has one, where it is, and sets Target. It is called
// once, before the workstation is dialled. Where the control plane is down, its last answer counts for
// a while if it is of the machine for which the token was issued. The cause of a refusal is for the log.
func (p *Pass) Locate(viewer netip.Addr) (refusal *Refusal, cause error) {
	s, t := p.source, p.token
	if s == nil {
		return nil, nil
	}
	q := question(source.Connect, p.Workstation, t.Issuer, viewer, t.ViewOnly || t.Rules.ViewOnly)
	p.question = q
	a, err := s.Resolve(q, p.refreshed)
	if err == nil && a.Decision == source.Allow && a.Generation != t.Machine && !t.Issued.Before(a.Asked) {
		a, err = s.Resolve(q, t.Issued) // another gateway has heard of another machine since
	}
	if err != nil {
		last, ok := s.Last(q, p.refreshed)
		if !ok || last.Generation != t.Machine {
			return NewRefusal(SourceUnavailable), err
		}
		a = last
	}
	switch {
	case a.Decision == source.Deny:
		return &Refusal{WorkstationDenied, reasonOf(&a, WorkstationDenied)}, nil
	case a.Decision == source.Unknown:
		return NewRefusal(RefusedRevoked), errUnknown
	case a.Decision == source.Wait:
		return &Refusal{WorkstationStarting, reasonOf(&a, WorkstationStarting)}, nil
	case a.Generation != t.Machine:
		p.service.replaced(p.Workstation, &a)
		return NewRefusal(RefusedReleased), errMachine
	}
	at, err := p.service.place(s, p.Workstation, &a)
	if err != nil {
		return NewRefusal(SourceUnavailable), s.Reject(q, err)
	}
	p.Target, p.Rules = at.target, p.Rules.Within(at.session())
	p.Shared = p.Shared && !p.Rules.NotShared
	return nil, nil
}

var (
	errUnknown = errors.New("the source knows no such workstation any more")
	errMachine = errors.New("the source names another machine than the one for which the address was issued")
)

// replaced ends what was issued for other machines than the one of an answer.
func (w *Service) replaced(id ID, a *source.Answer) {
	s := w.state.sessions
	ctx, cancel := message()
	defer cancel()
	_ = s.swap(ctx, id, func(c *Change) error { return c.After.occupy(a.Generation, a.Asked, s.now()) }) // the next viewer does it
}

// Doubt has the source asked again for the next viewer: the workstation did not let the gateway in.
func (p *Pass) Doubt() {
	if p.source != nil {
		p.source.Expire(p.question)
	}
}

// dismiss ends everything at a workstation of a source, and has the source asked again.
func (g *Registry) dismiss(ctx context.Context, s *Source, id ID, by Releaser) error {
	ended := 0
	err := g.askAgain(ctx, s, id, func(w *Workstation, now time.Time) error {
		of := func(t *Token) bool { return by.Machine == nil || t.Machine == *by.Machine }
		if by.Machine != nil && !slices.ContainsFunc(w.Tokens, of) && len(w.Tokens) > 0 {
			return by.may(nil)
		}
		ended = len(w.endOf(of, by.Key, now))
		return nil
	})
	switch {
	case err == nil:
		g.emit.released(id, ended)
	case by.Machine == nil:
		g.inventory.state.sessions.endAt(id, math.MaxInt64, ReasonReleased, by.Key)
	}
	return err
}

// Refresh has the source of a workstation asked again, by all gateways. Sessions and addresses stay.
// Its errors are: not_found; storage_unavailable, where other gateways hear of it later.
func (g *Registry) Refresh(ctx context.Context, tenant, name string) error {
	id := ID{tenant, name}
	if err := g.inventory.check(id); err != nil {
		return err
	}
	s := g.inventory.sourceOf(id)
	if s == nil {
		return nil // nobody is asked for it
	}
	return g.askAgain(ctx, s, id, func(*Workstation, time.Time) error { return nil })
}

// askAgain forgets what a source has said of a workstation, at all gateways, and changes that.
func (g *Registry) askAgain(ctx context.Context, s *Source, id ID, change func(w *Workstation, now time.Time) error) error {
	state := g.inventory.state
	s.Drop(id.Tenant, id.Name)
	state.logins.forget(id)
	apply := func(ctx context.Context) error {
		return state.sessions.swap(ctx, id, func(c *Change) error {
			now := state.now()
			c.After.Refreshed = now
			return change(c.After, now)
		})
	}
	err := apply(ctx)
	var refused *apierror.Error
	if err == nil || errors.As(err, &refused) {
		return err
	}
	state.sessions.again(apply)
	return errNoStore(err)
}
