package desktop

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Input is a session's side of input control. An agent asks before each event; a person's key takes
// the input.
type Input struct {
	session     string
	at          ID
	returnAfter time.Duration // Policy.ReturnAfter
	agentsLook  bool          // Policy.ScreenshotsDuringHold
	sessions    *sessions
	emit        emitter
	lock        atomic.Pointer[inputLock] // nil: no agent is there, and nobody holds the input
	lift        lift                      // of a person
}

// Act runs send, which sends one event of an agent, while the agent holds the input. It takes it if
// nobody has it; else it returns control_held, and send is not run: never after the first key or
// button of a person. The error of send is returned as it is. send must not call the session.
func (i *Input) Act(send func() error) error {
	for range maxTries {
		h := i.inputLock()
		h.mu.Lock()
		switch now := i.sessions.now(); {
		case h.held != nil && h.hold.Session == i.session && len(h.lifts) > 0:
			h.mu.Unlock()
			h.follow()
			continue
		case h.held != nil && h.hold.Session == i.session:
			err := send()
			h.mu.Unlock()
			return err
		case h.held != nil && !(h.human && !now.Before(h.hold.Until)):
			err := h.held
			h.mu.Unlock()
			return err
		}
		h.mu.Unlock()
		if err := i.claim(); err != nil {
			return err
		}
	}
	return errNoStore(errContention)
}

// claim takes the input for an agent.
func (i *Input) claim() error {
	ctx, cancel := message()
	defer cancel()
	changed := false
	err := i.sessions.swap(ctx, i.at, func(c *Change) error {
		x := c.After.session(i.session)
		if x == nil || !x.open(i.sessions.now()) {
			return noSession(i.at, i.session)
		}
		err := claimInput(c.After, i.session, i.sessions.now())
		changed = err == nil && c.After.Hold != c.Before.Hold
		return err
	})
	var refused *apierror.Error
	switch {
	case errors.As(err, &refused):
		return err
	case err != nil:
		return errNoStore(err)
	case changed:
		i.changed(HolderAgent)
	}
	return nil
}

// MayLook returns control_held while a person holds the input, unless the configuration lets agents
// look then.
func (i *Input) MayLook() error {
	h := i.inputLock()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.human && !i.agentsLook && i.sessions.now().Before(h.hold.Until) {
		return h.held
	}
	return nil
}

// ChangedHands reports whether a person has had the input since it was called last: for the first
// answer after it.
func (i *Input) ChangedHands() bool {
	h := i.inputLock()
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.agent(i.session)
	lost := a.takenOver
	a.takenOver = h.human
	return lost
}

// Holder returns who holds the input, as this gateway knows it: HolderHuman, HolderAgent or
// HolderNone.
func (i *Input) Holder() string {
	h := i.inputLock()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.human && i.sessions.now().Before(h.hold.Until):
		return HolderHuman
	case h.held != nil && !h.human:
		return HolderAgent
	}
	return HolderNone
}

// OnLost sets what releases an agent's pressed keys and buttons when another session takes the
// input. It must not call the session. The first event of a person waits for it, and until flushed
// is closed: the workstation has read all that the agent has sent.
func (i *Input) OnLost(release func() (taken <-chan struct{})) {
	h := i.inputLock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.agent(i.session).release = release
}

// Watched reports whether Press and Moves must be called for the person's input: an agent is at the
// workstation. It costs one atomic load.
func (i *Input) Watched() bool { return i.lock.Load() != nil }

// Press is called before a key or a button that a person has pressed is passed on: it takes the
// input. When it returns, agents have released what they held and send nothing any more. By then
// the workstation has their last events, which came on other connections. An agent at another
// gateway has a second for that.
func (i *Input) Press() {
	h := i.lock.Load()
	if h == nil {
		return
	}
	i.touch(h, true)
	h.awaitAgents()
}

// touch notes input of a person. A press takes the input; it and movement keep it.
func (i *Input) touch(h *inputLock, press bool) (moves bool) {
	now := i.sessions.now()
	h.mu.Lock()
	h.input = now
	moves = h.held == nil || h.human
	take := press && !h.human || h.human && h.hold.Until.Sub(now) < i.returnAfter/2
	h.mu.Unlock()
	if take {
		i.take(h, now, now.Add(i.returnAfter))
	}
	return moves
}

// take has a person hold the input until a time. If the store does not answer, or has lost the
// session, agents of this gateway stop all the same.
func (i *Input) take(h *inputLock, now, until time.Time) {
	ctx, cancel := message()
	defer cancel()
	changed, lost := false, false
	rule := func(w *Workstation) {
		id := i.session
		if by := holding(w, now); by != nil && !by.Token.Issuer.Agent { // a person's input, whoever's of them
			id = by.ID
		}
		changed = takeInput(w, id, until, now)
		lost = holdOf(w).Session != id && w.session(i.session) == nil
	}
	if i.sessions.apply(ctx, i.at, rule) == nil && !lost {
		if changed {
			i.changed(HolderHuman)
		}
		return
	}
	x := i.sessions.get(i.at, i.session)
	if x == nil {
		return
	}
	r, open := x.snapshot()
	if lost && !open {
		return
	}
	h.mu.Lock()
	h.set(i.at, Hold{Number: h.hold.Number + 1, Session: i.session, Since: now, Until: until}, &r)
	h.mu.Unlock()
	i.sessions.queueRetry(func(ctx context.Context) error { return i.sessions.apply(ctx, i.at, rule) })
}

// Moves reports whether a movement of a person's pointer is passed on: it is not while an agent
// holds the input, as two pointers would fight.
func (i *Input) Moves() bool {
	h := i.lock.Load()
	if h == nil {
		return true
	}
	return i.touch(h, false)
}

// inputLock returns the lock of the workstation's input.
func (i *Input) inputLock() *inputLock {
	if h := i.lock.Load(); h != nil {
		return h
	}
	return i.sessions.inputLock(i.at)
}

// watch ends a person's hold after a time without input; h is locked.
func (i *Input) watch(h *inputLock) {
	if h.returnTimer == nil && h.human && h.hold.Session == i.session {
		h.input = i.sessions.now()
		h.returnTimer = time.AfterFunc(i.returnAfter/2, func() { i.look(h) })
	}
}

// look makes a person's hold longer if there was input, and ends it if there was none.
func (i *Input) look(h *inputLock) {
	h.mu.Lock()
	now, end := i.sessions.now(), h.input.Add(i.returnAfter)
	if h.hold.Until.After(end) { // another gateway has seen later input
		end = h.hold.Until
	}
	ours := h.returnTimer != nil && h.human && h.hold.Session == i.session
	keep, over := ours && end.After(h.hold.Until), ours && !now.Before(end)
	if ours && !over {
		h.returnTimer.Reset(min(end.Sub(now), i.returnAfter/2))
	}
	h.mu.Unlock()
	if keep && !over {
		i.take(h, now, end)
	}
	if !over {
		return
	}
	ctx, cancel := message()
	defer cancel()
	changed := false
	if i.sessions.apply(ctx, i.at, func(w *Workstation) {
		changed = holding(w, i.sessions.now()) == nil && releaseInput(w, i.session, now)
	}) == nil && changed {
		i.changed(HolderNone) // without an answer of the store it ends there by its time
	}
}

// holds reports whether the session has the input.
func (i *Input) holds() bool {
	h := i.lock.Load()
	if h == nil {
		return false
	}
	by := h.session.Load()
	return by != nil && *by == i.session
}

// changed emits that the workstation has another holder.
func (i *Input) changed(holder string) {
	i.emit.control(i.at, holder, i.session)
}
