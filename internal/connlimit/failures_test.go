package connlimit_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

// guess is one connection with a token that never existed, refused at once or after the wait.
func guess(limiter *connlimit.Limiter) time.Duration {
	slot := acquire(limiter, ada, connlimit.Limits{})
	defer slot.Release()
	return slot.FailedToken()
}

// wantDelay checks one PasswordDelay; a negative wait is a refusal.
func wantDelay(t *testing.T, limiter *connlimit.Limiter, want time.Duration) {
	t.Helper()
	slot := acquire(limiter, ada, connlimit.Limits{})
	defer slot.Release()
	wait, ok := slot.PasswordDelay()
	if !ok {
		wait = -1
	}
	if wait != want {
		t.Errorf("turn after %v, want %v", wait, want)
	}
}

func TestThirtyGuessesAMinuteAreRefusedAtOnce(t *testing.T) {
	limiter, clock := open()
	for range 30 {
		if wait := guess(limiter); wait != 0 {
			t.Fatalf("one of the first waits %v", wait)
		}
		clock.pass(time.Second)
	}
	for _, want := range []time.Duration{0, 2 * time.Second, 4 * time.Second} { // turns
		if wait := guess(limiter); wait != want {
			t.Errorf("the next waits %v, want %v", wait, want)
		}
	}
	for range 100 {
		if wait := guess(limiter); wait > connlimit.MaxDelay {
			t.Fatalf("a refusal waits %v", wait)
		}
	}
	clock.pass(time.Minute)
	if wait := guess(limiter); wait != 0 {
		t.Errorf("a minute later a refusal waits %v", wait)
	}
}

// Delayed refusals are half open; they must not fill the network's share.
func TestOnlyAFewRefusalsOfANetworkAreDelayedAtATime(t *testing.T) {
	limiter, _ := open()
	for range 100 {
		guess(limiter)
	}
	var held []*connlimit.Slot
	for range connlimit.MaxHeld {
		slot := acquire(limiter, ada, connlimit.Limits{})
		if wait := slot.FailedToken(); wait == 0 {
			t.Fatalf("refusal %d is not delayed", len(held))
		}
		held = append(held, slot)
	}
	if wait := guess(limiter); wait != 0 {
		t.Errorf("one more waits %v", wait)
	}
	held[0].Release()
	held[0].Release() // only the first counts
	if guess(limiter) == 0 {
		t.Error("none is delayed after one has left")
	}
	next := acquire(limiter, ada, connlimit.Limits{})
	defer next.Release()
	if next.FailedToken() == 0 || guess(limiter) != 0 {
		t.Error("the bound has moved")
	}
}

// One viewer that is refused again and again, as fast as it is let.
func TestARepeatedGuessIsHeldToThirtyAMinute(t *testing.T) {
	limiter, clock := open()
	random := rand.New(rand.NewPCG(3, 4))
	end := clock.at.Add(time.Hour)
	guesses := 0
	for clock.at.Before(end) {
		clock.pass(guess(limiter) + time.Duration(random.IntN(int(time.Millisecond))))
		guesses++
	}
	if guesses < 60*30 || guesses > 60*31+30 {
		t.Errorf("%d guesses in an hour", guesses)
	}
}

// Short passwords can be guessed, so they wait before they are checked. Tokens do not count among
// them.
func TestShortPasswordsWaitAfterThirtyWrongOnes(t *testing.T) {
	limiter, clock := open()
	for range 100 {
		guess(limiter)
	}
	slot := acquire(limiter, ada, connlimit.Limits{})
	defer slot.Release()
	for range 29 {
		slot.FailedPassword()
		clock.pass(2 * time.Second)
	}
	wantDelay(t, limiter, 0)
	wantDelay(t, limiter, 0)
	slot.FailedPassword() // the thirtieth, 58 s after the first
	for want := time.Duration(0); want <= connlimit.MaxDelay; want += 2 * time.Second {
		wantDelay(t, limiter, want)
	}
	for range 100 {
		wantDelay(t, limiter, -1) // refused, and nothing reserved
	}
	elsewhere := acquire(limiter, bob, connlimit.Limits{})
	defer elsewhere.Release()
	if wait, ok := elsewhere.PasswordDelay(); wait != 0 || !ok {
		t.Errorf("another network waits: %v, %v", wait, ok)
	}
	clock.pass(2 * time.Second) // the first is a minute old
	wantDelay(t, limiter, 0)
}

func BenchmarkHandshake(b *testing.B) {
	b.Run("good", func(b *testing.B) {
		limiter := connlimit.New(time.Now)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for n := 0; pb.Next(); n++ {
				slot := acquire(limiter, numbered(n%1000), connlimit.Limits{})
				slot.SetStage(connlimit.Person)
				slot.Release()
			}
		})
	})
	b.Run("into a full limiter of 2,048 networks", func(b *testing.B) {
		limiter := connlimit.New(time.Now)
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			acquire(limiter, numbered(n), connlimit.Limits{})
			n++
		}
	})
	b.Run("failure of a new network in a full table", func(b *testing.B) {
		limiter := connlimit.New(time.Now)
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			slot := acquire(limiter, numbered(n), connlimit.Limits{})
			slot.FailedToken()
			slot.Release()
			n++
		}
	})
}

func TestTenFailedSignInsAMinuteAreAnsweredAtOnce(t *testing.T) {
	limiter, clock := open()
	signIn := func(addr string) time.Duration {
		wait, ok := limiter.FailedSignIn(netip.MustParseAddr(addr))
		if !ok {
			return -1
		}
		return wait
	}
	for i := range 10 {
		if wait := signIn(fmt.Sprintf("2001:db8::%d", i)); wait != 0 { // hosts of one /64
			t.Fatalf("one of the first waits %v", wait)
		}
		clock.pass(time.Second)
	}
	for _, want := range []time.Duration{0, 2 * time.Second, 4 * time.Second, 6 * time.Second, 8 * time.Second, 10 * time.Second, -1, -1} {
		if wait := signIn("2001:db8::ffff"); wait != want {
			t.Errorf("the next waits %v, want %v", wait, want)
		}
	}
	if wait := signIn("2001:db8:0:1::1"); wait != 0 {
		t.Errorf("another network waits %v", wait)
	}
	if wait := guess(limiter); wait != 0 {
		t.Errorf("a viewer waits %v", wait)
	}
	clock.pass(time.Minute)
	if wait := signIn("2001:db8::1"); wait != 0 {
		t.Errorf("a minute later one waits %v", wait)
	}
}
