package desktop

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// Shared is what a gateway does for the store that it shares with others.
type Shared struct {
	state    *State
	sessions *sessions
}

// Traffic is how many bytes the sessions of this gateway have carried, up and down.
func (h *Shared) Traffic() map[string][2]int64 {
	traffic := make(map[string][2]int64)
	for _, x := range h.sessions.of() {
		if x.kind == preview {
			continue
		}
		traffic[x.ID] = [2]int64{x.Up.Load(), x.Down.Load()}
	}
	return traffic
}

// Changed reads workstations that other gateways may have changed, and ends the sessions of this one that
// a change has ended.
func (h *Shared) Changed(ctx context.Context, ids ...ID) ([]*Workstation, error) {
	known, err := h.sessions.store.Load(ctx, ids...)
	for _, w := range known {
		h.sessions.settleEnds(w)
		if w.Hold != nil {
			h.sessions.applyHold(w, false)
		}
		h.sessions.acknowledgeHold(w)
	}
	return known, err
}

// Beat compares the sessions of this gateway with those that the store has of it: session by session
// the workstation. What one of them does not know was lost on the way: it is mended here.
func (h *Shared) Beat(ctx context.Context, held map[string]ID) error {
	retried := h.sessions.retry(ctx) // what fails again must not keep the rest from being mended
	here, at := h.sessions.of(), make(map[ID]bool)
	for _, x := range here {
		at[x.Workstation] = true
	}
	if _, err := h.Changed(ctx, slices.Collect(maps.Keys(at))...); err != nil {
		return err
	}
	for _, x := range here {
		if held[x.ID] != x.Workstation {
			if err := h.restate(ctx, x); err != nil {
				return err
			}
		}
	}
	for id, at := range held {
		if x := h.sessions.get(at, id); x == nil || x.Why() != "" {
			if err := h.sessions.leaveStored(ctx, h.sessions.store.Node(), at, id); err != nil {
				return err
			}
		}
	}
	return retried
}

// Rejoin states all sessions again: the others took this gateway for dead.
func (h *Shared) Rejoin(ctx context.Context) error {
	for _, x := range h.sessions.of() {
		if err := h.restate(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// Replay says again what a store that was replaced, restarted or emptied may have lost: tokens that
// this gateway issued a short while ago, and its sessions with their tokens. Other tokens without a
// session, and those for one session, are gone if the store was emptied: their users ask for a new
// address.
func (h *Shared) Replay(ctx context.Context, issued map[*Token]ID) error {
	for t, id := range issued {
		if t.Once { // another gateway may have seen its use
			continue
		}
		if _, err := h.restateToken(ctx, id, t, nil); err != nil {
			return err
		}
	}
	return h.Rejoin(ctx)
}

// Reap takes out the sessions of a node whose gateway is dead, or stops. Their tokens can be used again for a
// while.
func (h *Shared) Reap(ctx context.Context, node string, held map[string]ID) error {
	at := make(map[ID][]string)
	for session, id := range held {
		at[id] = append(at[id], session)
	}
	for id, sessions := range at {
		if err := h.sessions.leaveStored(ctx, node, id, sessions...); err != nil {
			return err
		}
	}
	return nil
}

// restate says again what this gateway knows of an open session.
func (h *Shared) restate(ctx context.Context, x *Session) error {
	r, open := x.snapshot()
	if !open {
		return nil
	}
	r.Node = h.sessions.store.Node()
	why, err := h.restateToken(ctx, x.Workstation, r.Token, &r)
	if err == nil && why != "" {
		x.End(why)
	}
	return err
}

// restateToken says again what this gateway knows of a token, and of a session of it unless x is nil.
func (h *Shared) restateToken(ctx context.Context, id ID, t *Token, x *SessionRecord) (why Reason, err error) {
	state := func(t *Token) error {
		return h.sessions.swap(ctx, id, func(c *Change) error {
			// The store changes both together: what it finds belongs to this state of the workstation.
			found, err := h.sessions.store.Find(ctx, Shown{Hash: t.Hash})
			if err != nil {
				return err
			}
			c.Restates = true
			why = c.After.restate(t, x, found.Code, h.state.rule(), h.sessions.now())
			return nil
		})
	}
	err = state(t)
	if errors.Is(err, errTaken) { // another token has its first characters now
		plain := *t
		plain.Prefix = ""
		err = state(&plain)
	}
	return why, err
}
