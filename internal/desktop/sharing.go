package desktop

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// engineTimeout bounds one message about a token or a session: a person waits for it.
	engineTimeout = 2 * time.Second
	// liveTimeout bounds Live: the ClientHello of any client waits for it.
	liveTimeout = 50 * time.Millisecond
	// lostAfter is how long sessions stay open that nobody could end: neither the engine nor the
	// records can be read.
	lostAfter = 30 * time.Second
	// keepIssued is how long a token is remembered by the gateway that issued it, for an engine that
	// has lost its last writes.
	keepIssued = 2 * time.Minute
	// maxIssued bounds those tokens, and maxRetries the messages to be sent again.
	maxIssued  = 4096
	maxRetries = 1024
)

// Sharing is the part of a State that other gateways share. Tokens are in the engine only; State has
// those of this gateway's sessions. A method that takes a lock never sends a message meanwhile.
type Sharing struct {
	state    *State
	engine   Engine
	records  Records
	keepOpen atomic.Bool

	seen atomic.Int64 // the last change of the records that this gateway knows
	read atomic.Bool  // all records were read once

	mu      sync.Mutex // guards the following
	heard   time.Time  // the last answer of the engine or the records; zero: nobody has looked yet
	issued  []issuedToken
	retries []func(context.Context) error
}

type issuedToken struct {
	at    time.Time
	token SharedToken
}

// Share makes the tokens, sessions and records of s those of several gateways. It must be called
// before the first service starts.
func (s *State) Share(e Engine, r Records) *Sharing {
	s.shared = &Sharing{state: s, engine: e, records: r}
	return s.shared
}

// KeepOpen says whether sessions stay open while neither engine nor records can be read.
func (h *Sharing) KeepOpen(yes bool) { h.keepOpen.Store(yes) }

// Heard notes how long ago the engine or the records have last answered; negative: not since the
// last call. It is called every second. Without an answer for 30 seconds all sessions end: their
// workstations may have been released.
func (h *Sharing) Heard(ago time.Duration) {
	now := h.state.now()
	h.mu.Lock()
	if ago >= 0 {
		h.heard = now.Add(-ago)
	} else if h.heard.IsZero() {
		h.heard = now
	}
	lost := now.Sub(h.heard) >= lostAfter
	h.mu.Unlock()
	if lost && !h.keepOpen.Load() {
		h.state.EndAll(ReasonEngineLost)
	}
}

// Beat compares this gateway's sessions with those of the engine. What one of them does not know was
// lost on the way: it heals here.
func (h *Sharing) Beat(ctx context.Context) error {
	if err := h.retry(ctx); err != nil {
		return err
	}
	stated := h.open()
	a, err := h.engine.Attend(ctx, stated)
	if err != nil {
		return err
	}
	for _, r := range a.Revoked {
		h.Revoked(r)
	}
	here := make(map[string]bool) // also those that are about to open
	h.state.mu.Lock()
	for _, p := range h.state.entries {
		for id, x := range p.sessions {
			if why := a.Ended[id]; why != "" {
				h.state.end(x, why)
			} else {
				here[id] = true
			}
		}
	}
	h.state.mu.Unlock()
	var gone []string
	for id := range a.Ended {
		gone = append(gone, id)
	}
	held := make(map[string]bool, len(a.Held))
	for _, id := range a.Held {
		if held[id] = true; !here[id] {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		if err := h.engine.Leave(ctx, gone...); err != nil {
			return err
		}
	}
	for _, x := range stated {
		if here[x.ID] && !held[x.ID] {
			if err := h.restate(ctx, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// Rejoin states all sessions again: the engine took this gateway for dead.
func (h *Sharing) Rejoin(ctx context.Context) error {
	for _, x := range h.open() {
		if err := h.restate(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// Replay says again what an engine that was replaced, restarted or emptied may have lost: the tokens
// that this gateway issued in the last two minutes, and its sessions with their tokens. Older tokens
// without a session, and those for one session, are gone if the engine was emptied: their users ask for
// a new address.
func (h *Sharing) Replay(ctx context.Context) error {
	h.mu.Lock()
	issued := h.issued
	h.mu.Unlock()
	for _, t := range issued {
		if h.state.now().Sub(t.at) < keepIssued && !t.token.Once { // another gateway may have seen its use
			if _, err := h.engine.Restate(ctx, &t.token, nil, Refuse); err != nil {
				return err
			}
		}
	}
	return h.Rejoin(ctx)
}

func (h *Sharing) restate(ctx context.Context, x *SharedSession) error {
	why, err := h.engine.Restate(ctx, x.Token, x, h.rule())
	if err == nil && why != "" {
		h.Ended(ID{x.Tenant, x.Workstation}, why, "", x.ID)
	}
	return err
}

// rule is that of the current configuration.
func (h *Sharing) rule() Conflict {
	h.state.mu.Lock()
	defer h.state.mu.Unlock()
	if h.state.committed == nil {
		return Refuse
	}
	return h.state.committed.policy.OnConflict
}

// again queues a message that was not answered, for the next beat. Beyond a bound the oldest is lost.
func (h *Sharing) again(f func(context.Context) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.retries) == maxRetries {
		h.retries = h.retries[1:]
	}
	h.retries = append(h.retries, f)
}

func (h *Sharing) retry(ctx context.Context) error {
	h.mu.Lock()
	todo := h.retries
	h.retries = nil
	h.mu.Unlock()
	for i, f := range todo {
		if err := f(ctx); err != nil {
			for _, f := range todo[i:] {
				h.again(f)
			}
			return err
		}
	}
	return nil
}

// message is the context of one message.
func message() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), engineTimeout)
}
