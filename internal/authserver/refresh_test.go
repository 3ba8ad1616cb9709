package authserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slow is an identity provider whose answers take a while.
type slow struct {
	*idp
	takes time.Duration
}

func (s *slow) Again(ctx context.Context, p Person, refresh string) (Person, string, error) {
	now, next, err := s.idp.Again(ctx, p, refresh)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return Person{}, "", fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	return now, next, err
}

// second returns another gateway with the store of a bench, and an identity provider that takes a
// while to answer.
func (b *bench) second(takes time.Duration) *bench {
	b.t.Helper()
	other := *b
	state := NewState(b.state.now)
	if err := state.Open(b.t.Context(), b.state.opened()); err != nil {
		b.t.Fatal(err)
	}
	other.Server = b.With(state, &slow{b.idp, takes}, b.logger)
	return &other
}

// inRealTime is start in a bubble of synctest, whose clock is the bench's.
func inRealTime(t *testing.T) *bench {
	b := start(t)
	b.state.now = time.Now
	return b
}

// The identity provider takes a token once: whoever comes second is refused before the first has
// noted the answer.
func TestRefreshesAtTwoGatewaysAtOnceAreBothGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inRealTime(t)
		_, refresh := b.signIn()
		one, two := b.second(2*time.Second), b.second(0)
		answers := make(chan answer)
		go func() { answers <- one.renew(refresh) }()
		synctest.Wait() // it has asked, and waits for the answer
		second := two.renew(refresh)
		first := <-answers
		b.want(first, 200, "")
		b.want(second, 200, "")
		for _, a := range []answer{first, second} {
			if !one.good(a.text("access_token")) || !two.good(a.text("access_token")) {
				t.Error("a token that was given out is not good")
			}
		}
		if b.idp.asked != 1 {
			t.Errorf("the identity provider was asked %d times", b.idp.asked)
		}
		b.want(one.renew(second.text("refresh_token")), 200, "")
	})
}

// A gateway that dies while it asks, or a provider that does not answer, signs nobody out.
func TestAClaimEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inRealTime(t)
		_, refresh := b.signIn()
		one, two := b.second(time.Hour), b.second(0)
		answers := make(chan answer)
		go func() { answers <- one.renew(refresh) }()
		synctest.Wait()
		b.idp.token-- // it has not got the question
		b.want(two.renew(refresh), 200, "")
		b.want(<-answers, 503, unavailable)

		_, refresh = b.signIn()
		id, _, _ := b.keys.parse(refreshPrefix, refresh)
		if err := b.again.changeSignIn(t.Context(), id, func(in SignIn) (SignIn, error) { in.Asked = time.Now(); return in, nil }); err != nil {
			t.Fatal(err)
		}
		b.want(two.renew(refresh), 503, unavailable) // of a gateway that has died
		time.Sleep(claimLife)
		b.want(two.renew(refresh), 200, "")
	})
}

// After a reload all calls with a token ask, and a provider that hangs costs each one question's
// time at most.
func TestCallsDoNotQueueForAProviderThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inRealTime(t)
		access, _ := b.signIn()
		b.idp.rules = "changed"
		hangs := b.second(time.Hour)
		const many = 20
		answers := make(chan error, many)
		begun := time.Now()
		for range many {
			go func() {
				_, _, err := hangs.Find(context.Background(), access)
				answers <- err
			}()
		}
		for range many {
			if err := <-answers; !errors.Is(err, ErrAway) {
				t.Errorf("%v", err)
			}
		}
		if took := time.Since(begun); took > againTimeout || b.idp.asked != 1 {
			t.Errorf("it took %v, and asked %d times", took, b.idp.asked)
		}
		b.idp.token-- // it has not got the question
		if !b.good(access) {
			t.Error("it is back, and the token is not good")
		}
	})
}

// A call waits for its turn for a few seconds at most, however long the one before takes.
func TestACallWaitsForItsTurnForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inRealTime(t)
		access, refresh := b.signIn()
		b.idp.rules = "changed"
		id, _, _ := b.keys.parse(refreshPrefix, refresh)
		end, err := b.state.refresh.take(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, _, err := b.Find(context.Background(), access); !errors.Is(err, ErrAway) || time.Since(begun) != turnTimeout {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		end(nil)
		if !b.good(access) || len(b.state.refresh.busy) != 0 {
			t.Error("after its end")
		}
	})
}

// writes counts the changes of a store.
type writes struct {
	Store
	n atomic.Int32
}

func (s *writes) Change(ctx context.Context, id ID, edit func(*Record) (Record, error)) error {
	s.n.Add(1)
	return s.Store.Change(ctx, id, edit)
}

// Whoever waits for another gateway reads: changes would hold up the answer that is waited for.
func TestAGatewayThatWaitsForAnotherWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inRealTime(t)
		counted := &writes{Store: b.state.store}
		b.state.store = counted
		_, refresh := b.signIn()
		one, two := b.second(2*time.Second), b.second(0)
		answers := make(chan answer)
		go func() { answers <- one.renew(refresh) }()
		synctest.Wait()
		before := counted.n.Load()
		go func() { answers <- two.renew(refresh) }()
		time.Sleep(time.Second)
		if n := counted.n.Load() - before; n != 1 { // its claim
			t.Errorf("it has changed the store %d times while it waits", n)
		}
		b.want(<-answers, 200, "")
		b.want(<-answers, 200, "")
	})
}

// The next token of the identity provider is kept, also by a gateway so slow that its claim was
// over: the one before is used up.
func TestALateAnswerIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := inRealTime(t)
		access, refresh := b.signIn()
		b.idp.rules = "changed"
		id, _, _ := b.keys.parse(refreshPrefix, refresh)
		slow := b.second(2 * time.Second)
		done := make(chan error)
		go func() { _, _, err := slow.Find(context.Background(), access); done <- err }()
		synctest.Wait()
		if err := b.again.changeSignIn(t.Context(), id, func(in SignIn) (SignIn, error) {
			in.Asked = in.Asked.Add(time.Second) // another one has claimed
			return in, nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		b.want(b.renew(refresh), 200, "")
	})
}

// A refusal that comes after another gateway has claimed the sign-in ends nothing.
func TestALateRefusalEndsNothing(t *testing.T) {
	b := start(t)
	access, refresh := b.signIn()
	id, _, _ := b.keys.parse(refreshPrefix, refresh)
	row, err := b.state.get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	in, err := signInOf(row)
	if err != nil {
		t.Fatal(err)
	}
	in.Asked = b.at // and the row says nothing of it any more
	if err := b.again.refused(t.Context(), &in, ErrRefused); !errors.Is(err, ErrUnavailable) || !b.good(access) {
		t.Errorf("%v", err)
	}
}

// A token follows a change of the roles in the configuration at its next call.
func TestChangedRulesActOnTokensAtOnce(t *testing.T) {
	b := start(t)
	access, refresh := b.signIn()
	role := func() string {
		t.Helper()
		in, _, err := b.Find(t.Context(), access)
		if err != nil {
			return err.Error()
		}
		return in.Person.Role
	}
	if role(); b.idp.asked != 0 {
		t.Error("the identity provider is asked without a reason")
	}
	b.idp.rules, b.idp.person.Role = "changed", "operator"
	for range 2 {
		if got := role(); got != "operator" || b.idp.asked != 1 {
			t.Errorf("%s, asked %d times", got, b.idp.asked)
		}
	}
	b.idp.rules, b.idp.refused = "changed again", fmt.Errorf("%w: it does not answer", ErrUnavailable)
	if _, _, err := b.Find(t.Context(), access); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
	b.idp.refused = fmt.Errorf("%w: no role is for them", ErrRefused)
	if _, _, err := b.Find(t.Context(), access); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	b.idp.refused = nil
	b.want(b.renew(refresh), http.StatusUnauthorized, invalidGrant)
}

func TestATokenIsNotGoodForLongerThanARole(t *testing.T) {
	b := start(t)
	b.idp.life = 10 * time.Minute
	access, refresh := b.signIn()
	_, until, err := b.Find(t.Context(), access)
	if err != nil || until.Sub(b.at) != 10*time.Minute {
		t.Errorf("%v, %v", until.Sub(b.at), err)
	}
	if a := b.renew(refresh); a.fields["expires_in"] != 600.0 {
		t.Errorf("%v", a.fields)
	}
}

func TestManyProcessesRefreshAtOnceAndNoneIsSignedOut(t *testing.T) {
	b := start(t)
	_, refresh := b.signIn()
	first := b.renew(refresh)
	for range maxTokens - 1 {
		b.want(b.renew(refresh), 200, "")
	}
	a := b.renew(refresh)
	b.want(a, http.StatusTooManyRequests, slowDown)
	if a.Header().Get("Retry-After") != "1" {
		t.Error(a.Header())
	}
	b.want(b.renew(first.text("refresh_token")), 200, "")
}
