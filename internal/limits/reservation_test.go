package limits_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
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
	h, _, err := limits.Reserve(t.Context(), l, limits.ReserveRequest{Call: "1", Subjects: []limits.Subject{{Budgets: []limits.Budget{{}}}}})
	return h, err
}

var errUnanswered, errBroken = errors.New("no answer"), errors.New("broken")

func none() error { return nil }

func TestSettlingIsRetriedUntilItSucceedsOnce(t *testing.T) {
	l := &scripted{reserve: none, settle: func(context.Context) error { return errBroken }}
	h, err := reserveAt(t, l)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Settle(t.Context(), limits.Amount{}); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), `"1"`) {
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
		l.settle = func(context.Context) error { return errBroken }
		if h, err := reserveAt(t, l); h != nil || !errors.Is(err, errUnanswered) || !errors.Is(err, errBroken) {
			t.Errorf("%v, %v", h, err)
		}
	})
}

// uncalledLedger is a ledger whose methods must not be called.
type uncalledLedger struct{ limits.Ledger }

func TestCallWithoutBudgetsAsksNoLedger(t *testing.T) {
	h, refusal, err := limits.Reserve(t.Context(), uncalledLedger{}, limits.ReserveRequest{Call: "1", Subjects: []limits.Subject{{Name: "key:a"}}})
	if refusal != nil || err != nil {
		t.Fatalf("%+v, %v", refusal, err)
	}
	if err := h.Settle(t.Context(), limits.Amount{Nano: 5}); err != nil {
		t.Error(err)
	}
}
