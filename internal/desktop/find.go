package desktop

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

// liveTimeout bounds Live: the ClientHello of any client waits for it.
const liveTimeout = 50 * time.Millisecond

// Live reports whether the label is a token that opens one of this service's workstations now; without
// an answer of the store it does not. It changes nothing, so that a matcher may ask repeatedly.
func (w *Service) Live(label string) bool {
	h, ok := hashOf(label)
	if !ok || !w.ready.Load() {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), liveTimeout)
	defer cancel()
	found, err := w.state.sessions.store.Find(ctx, Shown{Hash: h})
	if err != nil || found.refuse(w.state.now()) != nil {
		return false
	}
	_, err = w.state.judge(w.config, found.Workstation.ID, found.Token, found.Token.Client)
	return err == nil
}

// Find returns what a token opens. The label may come from a server name or from a person, who may
// type capitals. It changes nothing; the token is first used by Join. Every error is a [*Refusal].
func (w *Service) Find(label string, viewer netip.Addr) (*Pass, error) {
	if !w.ready.Load() {
		return nil, refuse(RefusedUnavailable)
	}
	h, ok := hashOf(label)
	if !ok {
		return nil, refuse(RefusedUnknown)
	}
	return w.find(Shown{Hash: h}, viewer)
}

// FindByPrefix is Find for viewers whose user typed the first 8 characters, see TypedPrefix. A dead
// token counts until it is forgotten: its viewer, which tries again by itself, makes no guess.
func (w *Service) FindByPrefix(prefix string, viewer netip.Addr) (*Pass, error) {
	if err := w.takesPrefixes(); err != nil {
		return nil, err
	}
	return w.find(Shown{Prefix: prefix}, viewer)
}

// FindByMatch is Find for viewers that show no more than whether they know the
// first 8 characters: match is asked, without a lock, for those of one token after
// the other, also of some that died in the last hour.
func (w *Service) FindByMatch(match func(prefix string) bool, viewer netip.Addr) (*Pass, error) {
	if err := w.takesPrefixes(); err != nil {
		return nil, err
	}
	ctx, cancel := message()
	defer cancel()
	prefixes, err := w.state.sessions.store.Prefixes(ctx)
	if err != nil {
		return nil, refuse(RefusedUnavailable)
	}
	for _, prefix := range prefixes {
		if match(prefix) {
			return w.find(Shown{Prefix: prefix}, viewer)
		}
	}
	return nil, refuse(RefusedUnknown)
}

// takesPrefixes is the refusal of all that show the first characters only: without
// VNCAuth in the policy nothing is found by them.
func (w *Service) takesPrefixes() error {
	if !w.ready.Load() {
		return refuse(RefusedUnavailable)
	}
	if !w.config.policy.VNCAuth {
		return refuse(RefusedUnknown)
	}
	return nil
}

// find returns what a token opens by the store, and by this gateway's configuration and records.
func (w *Service) find(shown Shown, viewer netip.Addr) (*Pass, error) {
	ctx, cancel := message()
	defer cancel()
	found, err := w.state.sessions.store.Find(ctx, shown)
	if err != nil {
		return nil, refuse(RefusedUnavailable)
	}
	if err := found.refuse(w.state.now()); err != nil {
		return nil, err
	}
	pass, err := w.pass(&found, viewer)
	var refusal *Refusal
	if errors.As(err, &refusal) && (refusal.Code == RefusedUnknown || refusal.Code == RefusedReleased || refusal.Code == RefusedUnavailable) {
		if w.state.catchUp(ctx) == nil { // it lives for the store: this gateway may have news to read
			return w.pass(&found, viewer)
		}
	}
	return pass, err
}

// refuse returns the refusal of a token that opens nothing.
func (f *Found) refuse(now time.Time) error {
	if f.Code != "" {
		return refuse(f.Code)
	}
	if code := f.Workstation.dead(f.Token, now); code != "" {
		return refuse(code)
	}
	return nil
}

func (w *Service) pass(f *Found, viewer netip.Addr) (*Pass, error) {
	t, id := f.Token, f.Workstation.ID
	if _, err := w.state.judge(w.config, id, t, viewer); err != nil {
		return nil, err
	}
	target, source := w.target(id), w.Sources.of(id)
	switch {
	case source == nil && t.Machine != "": // a source has named it, and the name is another's now
		return nil, refuse(RefusedReleased)
	case target == nil && source == nil:
		return nil, refuse(RefusedUnavailable)
	}
	rules := w.config.rules(t.Issuer, id, target, t.Rules)
	rules.ViewOnly = rules.ViewOnly || t.ViewOnly
	shared, terms := (t.Shared || w.config.policy.OnConflict == Share) && !rules.NotShared, w.config.terms(viewer, 0)
	opening := &SessionRecord{Token: t, Shared: shared, Rules: rules}
	return &Pass{
		Workstation: id,
		Target:      target,
		Issuer:      t.Issuer,
		TokenID:     t.Hash.id(),
		Guest:       t.Guest,
		Rules:       rules,
		Shared:      shared,
		token:       t,
		source:      source,
		refreshed:   f.Workstation.Refreshed,
		look:        f.look(opening, &terms, w.state.now()),
		service:     w,
	}, nil
}

// rules returns those of all levels for the sessions of an address.
func (c *configuration) rules(by Issuer, id ID, target *Target, asked SessionRules) SessionRules {
	rules := asked.Within(c.policy.Session).Within(c.levels.Tenants[id.Tenant]).Within(c.levels.Keys[KeyName{by.Tenant, by.Key}])
	if target != nil {
		rules = rules.Within(target.Session)
	}
	return rules
}

// look returns the refusal that join would give the session now, "" for none.
func (f *Found) look(x *SessionRecord, terms *Terms, now time.Time) RefusalCode {
	if code := admitGuest(x.Token.Guest, f.Workstation, now); code != "" {
		return code
	}
	conflicting, refused := f.Workstation.conflicts(x, terms.Rule, x.Token.Claim, terms.Client, now)
	switch {
	case refused:
		return RefusedBusy
	case f.Sessions-len(conflicting) >= terms.MaxSessions:
		return RefusedFull
	}
	return ""
}

// terms are the rules of the configuration for a viewer.
func (c *configuration) terms(viewer netip.Addr, generation int64) Terms {
	return Terms{
		Client: plain(viewer), Rule: c.policy.OnConflict, MaxSessions: c.policy.MaxSessions,
		Pin: c.policy.PinClient, Generation: generation,
	}
}
