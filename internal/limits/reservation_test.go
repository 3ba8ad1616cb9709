package limits_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// scripted is a ledger whose results a test sets.
type scripted struct {
	limits.Ledger
	reserve func() error
	settle  func(context.Context) error
	settled int
}

func (s *scripted) Reserve(context.Context, limits.ReserveRequest) (*limits.Refusal, error) {
	return nil, s.reserve()
}

func (s *scripted) Settle(ctx context.Context, _ string, _ limits.Amount) error {
	s.settled++
	return s.settle(ctx)
}

func reserveAt(t *testing.T, l limits.Ledger) (*limits.Reservation, error) {
	t.Helper()
	h, _, err := limits.Reserve(t.Context(), l, limits.ReserveRequest{Call: "1", At: noon, Subjects: []limits.Subject{budgeted(t, "key:a", "10usd/day")}})
	return h, err
}

func none() error { return nil }

func TestSettlingIsRetriedUntilItSucceedsOnce(t *testing.T) {
	l := &scripted{reserve: none, settle: func(context.Context) error { return errDisk }}
	h, err := reserveAt(t, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Settle(t.Context(), limits.Amount{}); !errors.Is(err, errDisk) || !strings.Contains(err.Error(), `"1"`) {
		t.Errorf("got %v", err)
	}
	l.settle = func(context.Context) error { return nil }
	for range 3 {
		if err := h.Settle(t.Context(), limits.Amount{}); err != nil {
			t.Error(err)
		}
	}
	if l.settled != 2 {
		t.Errorf("the ledger was asked %d times, want 2", l.settled)
	}
}

func TestWaitingToSettleEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan error)
		l := &scripted{reserve: none, settle: func(context.Context) error { return <-answer }}
		h, err := reserveAt(t, l)
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error)
		go func() { first <- h.Settle(context.Background(), limits.Amount{}) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.Settle(ctx, limits.Amount{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		answer <- nil
		if err := <-first; err != nil || l.settled != 1 {
			t.Errorf("%v, asked %d times", err, l.settled)
		}
	})
}

func TestAFailedReservationIsReleasedWithinFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		l := &scripted{reserve: func() error { return errUnanswered }, settle: func(ctx context.Context) error {
			ends, _ := ctx.Deadline()
			left = time.Until(ends)
			return nil
		}}
		if h, err := reserveAt(t, l); h != nil || err != errUnanswered || left != 5*time.Second {
			t.Errorf("%v, %v; %v to release it", h, err, left)
		}
		l.settle = func(context.Context) error { return errDisk }
		if h, err := reserveAt(t, l); h != nil || !errors.Is(err, errUnanswered) || !errors.Is(err, errDisk) {
			t.Errorf("%v, %v", h, err)
		}
	})
}

func TestSubjectsWithoutAConfigurationAreNamed(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	l, _ := openLedger(t, st)
	for i, name := range []string{"key:gone", "key:kept", "key:idle"} {
		call := string(rune('a' + i))
		if _, err := l.Reserve(t.Context(), limits.ReserveRequest{Call: call, At: noon, Most: limits.Amount{Nano: 2}, Subjects: []limits.Subject{budgeted(t, name, "10usd/day")}}); err != nil {
			t.Fatal(err)
		}
		if name == "key:idle" {
			continue // has spent nothing
		}
		if err := l.Settle(t.Context(), call, limits.Amount{Nano: 1}); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(name string) bool { return name == "key:kept" }
	midnight := noon.Add(12 * time.Hour)
	for at, want := range map[time.Time]string{noon: "key:gone", midnight.Add(-time.Second): "key:gone", midnight: ""} {
		got, err := limits.Unnamed(t.Context(), l, at, kept)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("at %v: %q, %v; want %q", at, got, err, want)
		}
	}
	if _, err := limits.Unnamed(t.Context(), noSubjectsLedger{}, noon, kept); !errors.Is(err, errUnanswered) {
		t.Errorf("got %v", err)
	}
}

// noSubjectsLedger is a ledger that cannot list subjects.
type noSubjectsLedger struct{ limits.Ledger }

func (noSubjectsLedger) Subjects(context.Context, time.Time) ([]string, error) {
	return nil, errUnanswered
}
