package desktop

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// storeTimeout bounds what a person waits for the store.
	storeTimeout = 2 * time.Second
	// maxTries bounds how often a change is judged again because another gateway was faster.
	maxTries = 32
	// leastBackOff is doubled for each of the first tries: the longest pause is 64 ms.
	leastBackOff = time.Millisecond
	maxDoublings = 6
	// maxRetries bounds the changes that are made again when the store answers.
	maxRetries = 1024
	// turnstiles is how many workstations can change at one time.
	turnstiles = 64
)

var errContention = errors.New("the workstation changes all the time")

// sessions are the sessions of this gateway, and its way to the store. No message is sent with a lock
// held.
type sessions struct {
	store Store
	now   func() time.Time
	turns [turnstiles]chan struct{} // changes of one workstation in this gateway wait for each other

	mu         sync.Mutex // guards the following
	byID       map[ID]map[string]*Session
	inputLocks map[ID]*inputLock // of workstations with sessions here, and an agent
	retries    []func(ctx context.Context) error
}

func newSessions(store Store, now func() time.Time) *sessions {
	s := &sessions{store: store, now: now, byID: make(map[ID]map[string]*Session), inputLocks: make(map[ID]*inputLock)}
	for i := range s.turns {
		s.turns[i] = make(chan struct{}, 1)
	}
	return s
}

// message is the context of a change for which a person waits.
func message() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), storeTimeout)
}

// update is swap for a change that a person waits for: such changes of one workstation take turns here.
// Other changes must not wait for a turn, because its holder may wait for them until the store is whole
// again.
func (s *sessions) update(ctx context.Context, id ID, rule func(c *Change) error) error {
	turn := s.turns[id.turn()]
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	c, err := func() (*Change, error) {
		defer func() { <-turn }() // an agent's event, for which settled may wait, must not hold up others
		return s.replace(ctx, id, rule)
	}()
	return s.settled(c, err)
}

// swap changes a workstation by a rule, and ends the sessions of this gateway that the rule has ended.
// The rule is called again if another change was faster. The store of a gateway that is alone answers at
// once, and no beat makes a change again there: it is made whatever became of ctx.
func (s *sessions) swap(ctx context.Context, id ID, rule func(c *Change) error) error {
	return s.settled(s.replace(ctx, id, rule))
}

// settled settles what has changed.
func (s *sessions) settled(c *Change, err error) error {
	if err == nil {
		s.settleEnds(c.After)
		if c.After.Hold != nil {
			s.applyHold(c.After, !c.nothing())
		}
	}
	return err
}

// replace is swap before anything is settled.
func (s *sessions) replace(ctx context.Context, id ID, rule func(c *Change) error) (*Change, error) {
	if s.store.Node() == "" {
		ctx = context.WithoutCancel(ctx)
	}
	for try := range maxTries {
		if err := backOff(ctx, try); err != nil {
			return nil, err
		}
		loaded, err := s.store.Load(ctx, id)
		if err != nil {
			return nil, err
		}
		c := &Change{Before: loaded[0], After: loaded[0].clone()}
		if err := rule(c); err != nil {
			return nil, err
		}
		outcome := Stored
		if !c.nothing() {
			outcome, err = s.store.Swap(ctx, c)
		}
		switch {
		case err != nil:
			return nil, err
		case outcome == Taken:
			return nil, errTaken
		case outcome == Full:
			return nil, refuse(RefusedFull)
		case outcome == Stored:
			return c, nil
		}
	}
	return nil, errContention
}

// backOff waits before a change is tried again, for a random time: gateways that change one workstation
// at the same moment would go on to meet. The second try is at once: as a rule two changes have met, and one
// of them is made.
func backOff(ctx context.Context, try int) error {
	if try <= 1 {
		return ctx.Err()
	}
	timer := time.NewTimer(rand.N(leastBackOff << min(try, maxDoublings)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// apply is swap by a rule that is always met.
func (s *sessions) apply(ctx context.Context, id ID, rule func(w *Workstation)) error {
	return s.swap(ctx, id, func(c *Change) error {
		rule(c.After)
		return nil
	})
}

// settleEnds ends the sessions of this gateway that must end, and those that must end sooner in time.
func (s *sessions) settleEnds(w *Workstation) {
	for _, x := range s.of(w.ID) {
		x.settleWait(w, s.now())
	}
	for _, x := range w.Sessions {
		if here := s.get(w.ID, x.ID); here != nil {
			here.settle(x, s.now())
		}
	}
	for _, x := range s.of(w.ID) {
		if x.kind == preview && alone(w, s.now()) {
			x.End(ReasonReplaced)
		}
	}
}

func (s *sessions) add(x *Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byID[x.Workstation]
	if at == nil {
		at = make(map[string]*Session)
		s.byID[x.Workstation] = at
	}
	at[x.ID] = x
}

func (s *sessions) remove(x *Session) {
	s.mu.Lock()
	at, h := s.byID[x.Workstation], s.inputLocks[x.Workstation]
	if delete(at, x.ID); len(at) == 0 {
		delete(s.byID, x.Workstation)
		delete(s.inputLocks, x.Workstation)
	}
	s.mu.Unlock()
	if h != nil {
		h.forget(x.ID)
	}
}

// get returns nil where this gateway has no such session.
func (s *sessions) get(at ID, id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[at][id]
}

// of returns the sessions at workstations, those that are about to open too; without a name at all.
func (s *sessions) of(ids ...ID) (all []*Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		for _, x := range s.byID[id] {
			all = append(all, x)
		}
	}
	if len(ids) == 0 {
		for _, at := range s.byID {
			for _, x := range at {
				all = append(all, x)
			}
		}
	}
	return all
}

// endAt ends the sessions at a workstation whose tokens were issued before a release, and returns how
// many there were.
func (s *sessions) endAt(id ID, before int64, why Reason, by string) (n int) {
	for _, x := range s.of(id) {
		if x.token().Generation < before && x.end(why, by, s.now()) {
			n++
		}
	}
	return n
}

// leave takes a session that has ended out of the store. If that fails, the next beat does it.
func (s *sessions) leave(x *Session) {
	for _, guest := range s.of(x.Workstation) {
		if guest.token().Guest.Host == x.ID { // the store says so too, where it answers
			guest.end(ReasonHostLeft, "", s.now())
		}
	}
	ctx, cancel := message()
	defer cancel()
	held := x.Input.holds()
	_ = s.leaveStored(ctx, "", x.Workstation, x.ID) // see Beat
	if held {
		x.Input.changed(HolderNone)
	}
}

// leaveStored takes out sessions of a node, "" for any: one that woke may have stated them again.
func (s *sessions) leaveStored(ctx context.Context, node string, at ID, ids ...string) error {
	return s.apply(ctx, at, func(w *Workstation) {
		for _, id := range ids {
			if x := w.session(id); x != nil && (node == "" || x.Node == node) {
				w.leave(id, s.now())
			}
		}
	})
}

// queueRetry queues a change that the store did not take, for the next beat. Beyond a bound the oldest is lost.
func (s *sessions) queueRetry(f func(ctx context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.retries) == maxRetries {
		s.retries = s.retries[1:]
	}
	s.retries = append(s.retries, f)
}

// retry makes the queued changes.
func (s *sessions) retry(ctx context.Context) error {
	s.mu.Lock()
	todo := s.retries
	s.retries = nil
	s.mu.Unlock()
	for i, f := range todo {
		if err := f(ctx); err != nil {
			for _, f := range todo[i:] {
				s.queueRetry(f)
			}
			return err
		}
	}
	return nil
}

// reopen takes back a release that has no number.
func (s *sessions) reopen(ctx context.Context, id ID) {
	reopen := func(ctx context.Context) error {
		return s.apply(ctx, id, func(w *Workstation) { w.Shut = false })
	}
	if reopen(ctx) != nil {
		s.queueRetry(reopen)
	}
}
