package connlimit_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

// guess is one connection with a token that never existed, refused at once or after the wait.
func guess(book *connlimit.Limiter) time.Duration {
	visit := enter(book, ada, connlimit.Limits{})
	defer visit.Release()
	return visit.FailedToken()
}

// wantTurn asserts one answer of Turn; a negative wait is a refusal.
func wantTurn(t *testing.T, book *connlimit.Limiter, want time.Duration) {
	t.Helper()
	visit := enter(book, ada, connlimit.Limits{})
	defer visit.Release()
	wait, ok := visit.PasswordDelay()
	if !ok {
		wait = -1
	}
	if wait != want {
		t.Errorf("turn after %v, want %v", wait, want)
	}
}

func TestThirtyGuessesAMinuteAreRefusedAtOnce(t *testing.T) {
	book, clock := open()
	for range 30 {
		if wait := guess(book); wait != 0 {
			t.Fatalf("one of the first waits %v", wait)
		}
		clock.pass(time.Second)
	}
	for _, want := range []time.Duration{0, 2 * time.Second, 4 * time.Second} { // turns
		if wait := guess(book); wait != want {
			t.Errorf("the next waits %v, want %v", wait, want)
		}
	}
	for range 100 {
		if wait := guess(book); wait > connlimit.MaxDelay {
			t.Fatalf("a refusal waits %v", wait)
		}
	}
	clock.pass(time.Minute)
	if wait := guess(book); wait != 0 {
		t.Errorf("a minute later a refusal waits %v", wait)
	}
}

// Delayed refusals are half open; they must not fill the network's share.
func TestOnlyAFewRefusalsOfANetworkAreDelayedAtATime(t *testing.T) {
	book, _ := open()
	for range 100 {
		guess(book)
	}
	var held []*connlimit.Slot
	for range connlimit.MaxHeld {
		visit := enter(book, ada, connlimit.Limits{})
		if wait := visit.FailedToken(); wait == 0 {
			t.Fatalf("refusal %d is not delayed", len(held))
		}
		held = append(held, visit)
	}
	if wait := guess(book); wait != 0 {
		t.Errorf("one more waits %v", wait)
	}
	held[0].Release()
	held[0].Release() // only the first counts
	if guess(book) == 0 {
		t.Error("none is delayed after one has left")
	}
	next := enter(book, ada, connlimit.Limits{})
	defer next.Release()
	if next.FailedToken() == 0 || guess(book) != 0 {
		t.Error("the bound has moved")
	}
}

// One viewer that is refused again and again, as fast as it is let.
func TestARepeatedGuessIsHeldToThirtyAMinute(t *testing.T) {
	book, clock := open()
	random := rand.New(rand.NewPCG(3, 4))
	end := clock.at.Add(time.Hour)
	guesses := 0
	for clock.at.Before(end) {
		clock.pass(guess(book) + time.Duration(random.IntN(int(time.Millisecond))))
		guesses++
	}
	if guesses < 60*30 || guesses > 60*31+30 {
		t.Errorf("%d guesses in an hour", guesses)
	}
}

// Short passwords can be guessed, so they take turns before they are judged. Tokens do not count among them.
func TestShortPasswordsTakeTurnsAfterThirtyWrongOnes(t *testing.T) {
	book, clock := open()
	for range 100 {
		guess(book)
	}
	visit := enter(book, ada, connlimit.Limits{})
	defer visit.Release()
	for range 29 {
		visit.FailedPassword()
		clock.pass(2 * time.Second)
	}
	wantTurn(t, book, 0)
	wantTurn(t, book, 0)
	visit.FailedPassword() // the thirtieth, 58 s after the first
	for want := time.Duration(0); want <= connlimit.MaxDelay; want += 2 * time.Second {
		wantTurn(t, book, want)
	}
	for range 100 {
		wantTurn(t, book, -1) // refused, and no turn taken
	}
	elsewhere := enter(book, bob, connlimit.Limits{})
	defer elsewhere.Release()
	if wait, ok := elsewhere.PasswordDelay(); wait != 0 || !ok {
		t.Errorf("another network waits: %v, %v", wait, ok)
	}
	clock.pass(2 * time.Second) // the first is a minute old
	wantTurn(t, book, 0)
}

func BenchmarkHandshake(b *testing.B) {
	b.Run("good", func(b *testing.B) {
		book := connlimit.New(time.Now)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for n := 0; pb.Next(); n++ {
				visit := enter(book, numbered(n%1000), connlimit.Limits{})
				visit.SetStage(connlimit.Person)
				visit.Release()
			}
		})
	})
	b.Run("into a full book of 2,048 networks", func(b *testing.B) {
		book := connlimit.New(time.Now)
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			enter(book, numbered(n), connlimit.Limits{})
			n++
		}
	})
	b.Run("failure of a new network in a full table", func(b *testing.B) {
		book := connlimit.New(time.Now)
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			visit := enter(book, numbered(n), connlimit.Limits{})
			visit.FailedToken()
			visit.Release()
			n++
		}
	})
}
