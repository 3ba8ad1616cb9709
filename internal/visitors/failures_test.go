package visitors_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/visitors"
)

// wantDelay asserts one answer of Delay; a negative wait is a refusal.
func wantDelay(t *testing.T, book *visitors.Book, want time.Duration) {
	t.Helper()
	wait, ok := book.Delay(ada)
	if !ok {
		wait = -1
	}
	if wait != want {
		t.Errorf("delay %v, want %v", wait, want)
	}
}

func TestThirtyFailuresAMinuteAreFree(t *testing.T) {
	book, clock := open()
	for range 29 {
		book.Fail(ada)
		clock.pass(2 * time.Second)
		for range 10 {
			wantDelay(t, book, 0)
		}
	}
	book.Fail(ada) // the thirtieth, 58 s after the first
	wantDelay(t, book, 0)
	wantDelay(t, book, 2*time.Second)
	clock.pass(2*time.Second - 1)
	wantDelay(t, book, 2*time.Second+1)
	clock.pass(1) // the first is a minute old
	for range 10 {
		wantDelay(t, book, 0)
	}
}

func TestANetworkThatFailsGetsOneGreetingEveryTwoSeconds(t *testing.T) {
	book, clock := open()
	for range 30 {
		book.Fail(ada)
	}
	for want := time.Duration(0); want <= visitors.MaxDelay; want += 2 * time.Second {
		wantDelay(t, book, want)
	}
	for range 100 {
		wantDelay(t, book, -1) // refused, and no turn taken
	}
	if wait, ok := book.Delay(bob); wait != 0 || !ok {
		t.Errorf("another network waits: %v, %v", wait, ok)
	}
	clock.pass(2 * time.Second)
	wantDelay(t, book, 10*time.Second)
	wantDelay(t, book, -1)
	clock.pass(15 * time.Second) // nobody came: turns are not saved up
	wantDelay(t, book, 0)
	wantDelay(t, book, 2*time.Second)
}

func TestASlowedNetworkIsFreeAgainAfterAMinute(t *testing.T) {
	book, clock := open()
	for range 1000 {
		book.Fail(ada)
		book.Delay(ada)
	}
	wantDelay(t, book, -1)
	clock.pass(time.Minute)
	for range 10 {
		wantDelay(t, book, 0)
	}
	book.Fail(ada)
	wantDelay(t, book, 0)
}

// An attacker connects as fast as it is let, and always fails.
func TestGuessingIsHeldToThirtyAMinute(t *testing.T) {
	book, clock := open()
	random := rand.New(rand.NewPCG(3, 4))
	end := clock.at.Add(time.Hour)
	guesses := 0
	for clock.at.Before(end) {
		wait, ok := book.Delay(ada)
		if !ok {
			t.Fatal("one connection at a time is refused")
		}
		clock.pass(wait + time.Duration(random.IntN(int(time.Millisecond))))
		book.Fail(ada)
		guesses++
	}
	if guesses < 60*30 || guesses > 60*30+60 {
		t.Errorf("%d guesses in an hour", guesses)
	}
}

func BenchmarkDoor(b *testing.B) {
	b.Run("visit", func(b *testing.B) {
		book := visitors.New(time.Now)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for n := 0; pb.Next(); n++ {
				visit, _ := book.Enter(numbered(n%1000), visitors.Limits{})
				book.Delay(numbered(n % 1000))
				book.LacksName(numbered(n % 1000))
				visit.Leave()
			}
		})
	})
	b.Run("failure of a new network in a full table", func(b *testing.B) {
		book := visitors.New(time.Now)
		for n := range visitors.MaxFailing {
			book.Fail(numbered(n))
		}
		b.ReportAllocs()
		n := visitors.MaxFailing
		for b.Loop() {
			book.Fail(numbered(n))
			n++
		}
	})
}
