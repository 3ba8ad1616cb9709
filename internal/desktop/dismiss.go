package desktop

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// dismiss ends everything at a workstation of a source, and has the source asked again.
func (x *Sources) dismiss(ctx context.Context, s *Source, id ID, by Releaser) error {
	ended := 0
	err := x.askAgain(ctx, s, id, func(w *Workstation, now time.Time) error {
		of := func(t *Token) bool { return by.Machine == nil || t.Machine == *by.Machine }
		if by.Machine != nil && !slices.ContainsFunc(w.Tokens, of) && len(w.Tokens) > 0 {
			return by.may(nil)
		}
		ended = len(endOf(w, of, by.Key, now))
		return nil
	})
	switch {
	case err == nil:
		x.emit.released(id, ended)
	case by.Machine == nil:
		x.inventory.state.sessions.endAt(id, math.MaxInt64, ReasonReleased, by.Key)
	}
	return err
}

// endAsked ends what was issued while a source was asked for a workstation that is registered by now.
func endAsked(ctx context.Context, g *Registry, n plan) {
	s, id := g.inventory.state, n.record.id()
	if !n.created || g.inventory.config.sources[id.Tenant] == nil {
		return
	}
	end := func(ctx context.Context) error {
		return s.sessions.apply(ctx, id, func(w *Workstation) {
			endOf(w, func(t *Token) bool { return t.Issued.Before(n.record.RegisteredAt) }, n.by, s.now())
		})
	}
	if end(ctx) != nil {
		s.sessions.queueRetry(end)
	}
}

// Refresh has the source of a workstation asked again, by all gateways. Sessions and addresses stay.
// Its errors are: not_found; storage_unavailable, where other gateways hear of it later.
func (x *Sources) Refresh(ctx context.Context, tenant, name string) error {
	id := ID{tenant, name}
	if err := x.inventory.check(id); err != nil {
		return err
	}
	s := x.of(id)
	if s == nil {
		return nil // nobody is asked for it
	}
	return x.askAgain(ctx, s, id, func(*Workstation, time.Time) error { return nil })
}

// askAgain forgets what a source has said of a workstation, at all gateways, and changes that.
func (x *Sources) askAgain(ctx context.Context, s *Source, id ID, change func(w *Workstation, now time.Time) error) error {
	state := x.inventory.state
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
	state.sessions.queueRetry(apply)
	return errNoStore(err)
}

// endOf ends tokens and their sessions as a release does.
func endOf(w *Workstation, ends func(t *Token) bool, by string, now time.Time) (ended []*SessionRecord) {
	for _, x := range w.open(now) {
		if ends(x.Token) {
			ended = append(ended, x)
			w.end(x, ReasonReleased, by, now)
		}
	}
	w.retireAll(func(t *Token) RefusalCode {
		if ends(t) {
			return RefusedReleased
		}
		return ""
	})
	return ended
}

// occupy ends what was issued for other machines than the one that a source has named, when it was
// asked at a time: errMoved if something was issued later for another one.
func occupy(w *Workstation, machine string, asked, now time.Time) error {
	other := func(t *Token) bool { return t.Machine != machine }
	for _, t := range w.Tokens {
		if other(t) && !t.Issued.Before(asked) {
			return errMoved
		}
	}
	for _, x := range w.open(now) {
		if other(x.Token) && !x.Token.Issued.Before(asked) {
			return errMoved
		}
	}
	endOf(w, other, "", now)
	return nil
}
