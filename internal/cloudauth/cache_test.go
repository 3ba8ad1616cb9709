package cloudauth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// endpoint is a source of tokens that live an hour.
type endpoint struct {
	mu     sync.Mutex // guards the following
	asked  int
	fails  error
	answer time.Duration // that an answer takes
}

func (e *endpoint) fetch(ctx context.Context) (string, time.Time, error) {
	e.mu.Lock()
	e.asked++
	n, fails, wait := e.asked, e.fails, e.answer
	e.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return "", time.Time{}, ctx.Err()
	}
	return fmt.Sprint("token ", n), time.Now().Add(time.Hour), fails
}

func (e *endpoint) set(fails error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fails = fails
}

func (e *endpoint) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}

func want(t *testing.T, c *cache[string], token string) {
	t.Helper()
	if got, err := c.get(t.Context()); got != token || err != nil {
		t.Errorf("%q %v, want %q", got, err, token)
	}
}

// synced runs a test with a cache whose context ends with it.
func synced(t *testing.T, e *endpoint, test func(t *testing.T, c *cache[string])) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		test(t, newCache(ctx, time.Now, 5*time.Minute, e.fetch))
		cancel()
		synctest.Wait() // everything in the background has ended
	})
}

func TestManyCallsAskOnce(t *testing.T) {
	e := &endpoint{answer: time.Second}
	synced(t, e, func(t *testing.T, c *cache[string]) {
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() { want(t, c, "token 1") })
		}
		calls.Wait()
		if n := e.requests(); n != 1 {
			t.Errorf("the endpoint was asked %d times", n)
		}
	})
}

func TestATokenIsRenewedBeforeItExpires(t *testing.T) {
	e := &endpoint{answer: time.Second}
	synced(t, e, func(t *testing.T, c *cache[string]) {
		want(t, c, "token 1")
		time.Sleep(54 * time.Minute)
		want(t, c, "token 1")
		time.Sleep(2 * time.Minute) // nobody asked for it
		want(t, c, "token 2")
	})
}

func TestAFailingSourceIsLeftAlone(t *testing.T) {
	e := &endpoint{}
	synced(t, e, func(t *testing.T, c *cache[string]) {
		want(t, c, "token 1")
		e.set(errors.New("down"))
		time.Sleep(58 * time.Minute)
		want(t, c, "token 1") // is valid for two more minutes
		if s := c.status(); s.Err == nil || s.Life <= 0 || s.Life > 2*time.Minute {
			t.Errorf("status %+v", s)
		}
		time.Sleep(3 * time.Minute)
		if _, err := c.get(t.Context()); err == nil || err.Error() != "down" {
			t.Errorf("error %v", err)
		}
		if n := e.requests(); n > 20 {
			t.Errorf("the endpoint was asked %d times in 6 minutes", n)
		}
		e.set(nil)
		time.Sleep(longestPause + time.Second)
		if got, err := c.get(t.Context()); err != nil || got == "token 1" {
			t.Errorf("%q %v", got, err)
		}
		if s := c.status(); s.Err != nil {
			t.Errorf("status %+v", s)
		}
	})
}

func TestARefusedTokenIsDroppedOnce(t *testing.T) {
	e := &endpoint{}
	synced(t, e, func(t *testing.T, c *cache[string]) {
		want(t, c, "token 1")
		if !c.refused() { // perhaps that of another request, before it was renewed
			t.Error("a token that has just come may have been another one")
		}
		time.Sleep(30 * time.Second)
		if c.refused() {
			t.Error("a new token that is refused lacks a right")
		}
		time.Sleep(10 * time.Minute)
		if !c.refused() {
			t.Error("an old token that is refused is renewed")
		}
		want(t, c, "token 2")
		if n := e.requests(); n != 2 {
			t.Errorf("the endpoint was asked %d times", n)
		}
	})
}

// Perhaps the provider refused it for one model only: all calls would fail with the source.
func TestARefusedTokenIsUsedWhileThereIsNoOther(t *testing.T) {
	e := &endpoint{}
	synced(t, e, func(t *testing.T, c *cache[string]) {
		want(t, c, "token 1")
		time.Sleep(10 * time.Minute)
		e.set(errors.New("down"))
		if !c.refused() {
			t.Error("an old token that is refused is renewed")
		}
		want(t, c, "token 1")
		if n := e.requests(); n != 2 || c.refused() {
			t.Errorf("the endpoint was asked %d times, and has nothing else to give", n)
		}
		time.Sleep(10 * time.Minute)
		e.set(nil)
		time.Sleep(longestPause + time.Second)
		if got, err := c.get(t.Context()); err != nil || got == "token 1" {
			t.Errorf("%q %v", got, err)
		}
		e.set(errors.New("down"))
		time.Sleep(2 * time.Hour)
		if got, err := c.get(t.Context()); err == nil || got != "" {
			t.Errorf("one that has expired is not used: %q %v", got, err)
		}
	})
}

func TestACredentialThatHasExpiredIsNone(t *testing.T) {
	asked := 0
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		c := newCache(ctx, time.Now, time.Minute, func(context.Context) (string, time.Time, error) {
			asked++
			return "old", time.Now().Add(-time.Second), nil
		})
		for range 10 {
			if got, err := c.get(t.Context()); err == nil {
				t.Errorf("%q is sent", got)
			}
		}
		cancel()
	})
	if asked != 1 {
		t.Errorf("the source was asked %d times at once", asked)
	}
}

func TestACallWaitsOnlyAsLongAsItsCallerDoes(t *testing.T) {
	e := &endpoint{answer: time.Minute}
	synced(t, e, func(t *testing.T, c *cache[string]) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := c.get(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		time.Sleep(fetchTimeout)
		if s := c.status(); s.Err == nil {
			t.Error("a source that does not answer has failed")
		}
	})
}

func TestNothingIsAskedAfterTheConfiguration(t *testing.T) {
	e := &endpoint{}
	synced(t, e, func(t *testing.T, c *cache[string]) { want(t, c, "token 1") })
	if n := e.requests(); n != 1 {
		t.Errorf("the endpoint was asked %d times", n)
	}
}

// A stream that began with a token may end in an error that shows it, after the token was renewed.
func TestTheTokensBeforeAreStillKnown(t *testing.T) {
	e := &endpoint{}
	synced(t, e, func(t *testing.T, c *cache[string]) {
		want(t, c, "token 1")
		for _, known := range []string{"[token 2 token 1 ]", "[token 3 token 2 token 1]", "[token 4 token 3 token 2]"} {
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := fmt.Sprint(c.known()); got != known {
				t.Errorf("%s, want %s", got, known)
			}
		}
	})
}
