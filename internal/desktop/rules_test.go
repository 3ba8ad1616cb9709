package desktop

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

var (
	noon   = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	client = netip.MustParseAddr("192.0.2.1")
)

func aToken(n byte) *Token {
	return &Token{
		Hash: Hash{n}, Issuer: Issuer{Tenant: "default", Key: "dev"}, Generation: 2,
		Issued: noon, Deadline: noon.Add(time.Minute), Until: noon.Add(time.Hour), Client: client,
	}
}

func aSession(id string, t *Token) *SessionRecord {
	return &SessionRecord{ID: id, Token: t, Node: "b.2", Viewer: netip.AddrPortFrom(client, 1), Started: noon, Until: t.Until}
}

// What a gateway says again of its session, after the others took it for dead or the store has lost data.
func TestASessionIsStatedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		token  func(*Token)
		before func(w *Workstation, x *SessionRecord)
		known  RefusalCode // of the token
		rule   Conflict
		now    time.Duration
		why    Reason
		tokens int // afterwards
	}{
		"all is lost":               {known: RefusedUnknown, tokens: 1},
		"its token is there":        {before: func(w *Workstation, x *SessionRecord) { w.Tokens = []*Token{x.Token} }, tokens: 1},
		"its token was used":        {known: RefusedUsed},
		"its token was for one use": {token: func(t *Token) { t.Once = true }, known: RefusedUnknown},
		"its token was revoked":     {known: RefusedRevoked, why: ReasonRemoved},
		"its token was released":    {known: RefusedReleased, why: ReasonReleased},
		"there was a later release": {token: func(t *Token) { t.Generation = 1 }, known: RefusedUnknown, why: ReasonReleased},
		"a release is not stored":   {before: func(w *Workstation, _ *SessionRecord) { w.Shut = true }, known: RefusedExpired, why: ReasonReleased},
		"its time is over":          {known: RefusedUnknown, now: time.Hour, why: ReasonMaxDuration},
		"a moment before":           {known: RefusedUnknown, now: time.Hour - 1, tokens: 1},
		"its gateway had another ID": {before: func(w *Workstation, x *SessionRecord) {
			old := *x
			old.Node, old.Lost = "b.1", true
			w.Sessions = []*SessionRecord{&old}
		}, known: RefusedUsed},
		"it was ended": {before: func(w *Workstation, x *SessionRecord) {
			ended := *x
			ended.Ended = ReasonEnded
			w.Sessions = []*SessionRecord{&ended}
		}, known: RefusedRevoked, why: ReasonEnded},
		"another has the workstation":    {before: withAnother, known: RefusedUsed, why: ReasonReplaced},
		"another shares the workstation": {before: withAnother, known: RefusedUsed, rule: Share},
	} {
		t.Run(name, func(t *testing.T) {
			own := aToken(1)
			if c.token != nil {
				c.token(own)
			}
			w, x := &Workstation{Generation: 2}, aSession("x", own)
			if c.before != nil {
				c.before(w, x)
			}
			if why := w.restate(own, x, c.known, c.rule, noon.Add(c.now)); why != c.why {
				t.Errorf("it ends: %q, want %q", why, c.why)
			}
			if got := w.session("x"); c.why == "" && (got == nil || got.Node != "b.2" || got.Lost) {
				t.Errorf("the session is %+v", got)
			}
			if len(w.Tokens) != c.tokens {
				t.Errorf("%d tokens", len(w.Tokens))
			}
		})
	}
}

func withAnother(w *Workstation, _ *SessionRecord) {
	w.Sessions = append(w.Sessions, aSession("other", aToken(2)))
}

func TestATokenIsStatedAgainWithItsClient(t *testing.T) {
	there := aToken(1)
	there.Client = netip.Addr{}
	w := &Workstation{Generation: 2, Tokens: []*Token{there}}
	if why := w.restate(aToken(1), nil, "", Refuse, noon); why != "" || len(w.Tokens) != 1 || w.Tokens[0].Client != client {
		t.Errorf("%q, %+v", why, w.Tokens)
	}
}

// Other gateways hear of what ends their sessions, or tokens that they may have issued.
func TestAChangeConcernsOtherGateways(t *testing.T) {
	own, sooner := aToken(1), aToken(1)
	sooner.endAt(noon.Add(time.Second))
	x, early := aSession("x", own), aSession("x", own)
	early.Until = noon
	before := &Workstation{Tokens: []*Token{own}, Sessions: []*SessionRecord{x}}
	for name, c := range map[string]struct {
		after *Workstation
		node  string
		want  bool
	}{
		"nothing changes":       {before, "a.1", false},
		"the session leaves":    {&Workstation{Tokens: before.Tokens}, "b.2", false},
		"it must end sooner":    {&Workstation{Tokens: before.Tokens, Sessions: []*SessionRecord{early}}, "a.1", true},
		"it is its own":         {&Workstation{Tokens: before.Tokens, Sessions: []*SessionRecord{early}}, "b.2", false},
		"a token ends sooner":   {&Workstation{Tokens: []*Token{sooner}, Sessions: before.Sessions}, "b.2", true},
		"a token has expired":   {&Workstation{Sessions: before.Sessions, Dead: []DeadToken{{Why: RefusedExpired}}}, "b.2", false},
		"a token was revoked":   {&Workstation{Sessions: before.Sessions, Dead: []DeadToken{{Why: RefusedRevoked}}}, "b.2", true},
		"all were released":     {&Workstation{Sessions: before.Sessions, Dead: []DeadToken{{Why: RefusedReleased}}}, "b.2", true},
		"the token was one use": {&Workstation{Sessions: before.Sessions, Dead: []DeadToken{{Why: RefusedUsed}}}, "b.2", false},
	} {
		if change := (&Change{Before: before, After: c.after}); change.Concerns(c.node) != c.want {
			t.Errorf("%s: %v, want %v", name, !c.want, c.want)
		}
	}
}

// busyStore always says that another gateway was faster, or what is set.
type busyStore struct {
	Store
	loads   int
	loadErr error
}

func (s *busyStore) Load(_ context.Context, ids ...ID) ([]*Workstation, error) {
	s.loads++
	return []*Workstation{{ID: ids[0]}}, s.loadErr
}

func (s *busyStore) Node() string { return "a" }

func (s *busyStore) Swap(context.Context, *Change) (Outcome, error) { return Changed, nil }

// Gateways that change one workstation at the same moment would go on to meet.
func TestTheTriesOfAChangeHaveRandomPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses [2]time.Duration
		for i := range pauses {
			began := time.Now()
			s := newSessions(&busyStore{}, time.Now)
			if err := s.apply(t.Context(), ID{}, func(w *Workstation) { w.Shut = true }); !errors.Is(err, errContention) {
				t.Fatal(err)
			}
			pauses[i] = time.Since(began)
		}
		if longest := maxTries * (leastBackOff << maxDoublings); pauses[0] == pauses[1] || pauses[0] == 0 || max(pauses[0], pauses[1]) > longest {
			t.Errorf("the tries took %s and %s", pauses[0], pauses[1])
		}
	})
}

func TestAChangeIsTriedOftenButNotForEver(t *testing.T) {
	store := &busyStore{}
	s := newSessions(store, time.Now)
	shut := func(w *Workstation) { w.Shut = true }
	if err := s.apply(t.Context(), ID{}, shut); !errors.Is(err, errContention) || store.loads != 32 {
		t.Errorf("%v after %d tries", err, store.loads)
	}
	store.loads = 0
	if err := s.apply(t.Context(), ID{}, func(*Workstation) {}); err != nil || store.loads != 1 {
		t.Errorf("nothing to change: %v after %d tries", err, store.loads)
	}
	store.loadErr = errors.New("away")
	if err := s.apply(t.Context(), ID{}, shut); !errors.Is(err, store.loadErr) {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s.turns[ID{}.turn()] <- struct{}{} // another change is under way
	if err := s.apply(ended, ID{}, shut); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// oneStore has one workstation.
type oneStore struct {
	Store
	at *Workstation
}

func (s *oneStore) Node() string { return "b.1" }

func (s *oneStore) Load(context.Context, ...ID) ([]*Workstation, error) {
	return []*Workstation{s.at}, nil
}

func (s *oneStore) Swap(_ context.Context, c *Change) (Outcome, error) {
	s.at = c.After
	return Stored, nil
}

// Whoever joins may wait for the store with the turn of the workstation, until this gateway has stated
// its sessions again: that must not need the turn.
func TestWhatAStoreWaitsForNeedsNoTurn(t *testing.T) {
	store := &oneStore{at: &Workstation{Sessions: []*SessionRecord{{ID: "x", Node: "a.1", Token: aToken(1)}}}}
	s := newSessions(store, time.Now)
	s.turns[ID{}.turn()] <- struct{}{}
	if err := s.leaveStored(t.Context(), "a.1", ID{}, "x"); err != nil || len(store.at.Sessions) != 0 {
		t.Errorf("%v: %+v", err, store.at)
	}
}

// A gateway that woke has stated its session again, as another node, when it is reaped.
func TestASessionThatWasStatedAgainIsNotReaped(t *testing.T) {
	store := &oneStore{at: &Workstation{Sessions: []*SessionRecord{{ID: "x", Node: "a.2", Token: aToken(1)}}}}
	h := &Shared{sessions: newSessions(store, time.Now)}
	if err := h.Reap(t.Context(), "a.1", map[string]ID{"x": {}}); err != nil || len(store.at.Sessions) != 1 {
		t.Errorf("%v: %+v", err, store.at)
	}
	if err := h.Reap(t.Context(), "a.2", map[string]ID{"x": {}}); err != nil || len(store.at.Sessions) != 0 {
		t.Errorf("%v: %+v", err, store.at)
	}
}
