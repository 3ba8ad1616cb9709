package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func TestReservationIsSettledOnce(t *testing.T) {
	l, _ := openLedger(t, open(t, t.TempDir(), store.Options{}))
	s := []limits.Subject{budgeted(t, "key:a", "100 tokens/day")}
	for i, end := range []func(*limits.Reservation) error{
		func(h *limits.Reservation) error { return h.Settle(t.Context(), limits.Amount{Tokens: 3}) },
		func(h *limits.Reservation) error { return h.Settle(t.Context(), limits.Amount{}) },
	} {
		h, refusal, err := limits.Reserve(t.Context(), l, limits.ReserveRequest{Call: fmt.Sprint(i), At: noon, Most: limits.Amount{Tokens: 9}, Subjects: s})
		if refusal != nil || err != nil {
			t.Fatalf("%+v, %v", refusal, err)
		}
		if err := errors.Join(end(h), h.Settle(t.Context(), limits.Amount{Tokens: 50}), h.Settle(t.Context(), limits.Amount{})); err != nil {
			t.Error(err)
		}
	}
	b, err := l.Status(t.Context(), noon, s)
	if err != nil || b[0].Spent != 3 || b[0].Reserved != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	var none *limits.Reservation
	if err := none.Settle(t.Context(), limits.Amount{}); err != nil {
		t.Error(err)
	}
}

var errUnanswered = errors.New("no answer")

// unansweringLedger takes a reservation and does not answer.
type unansweringLedger struct{ limits.Ledger }

func (d unansweringLedger) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	_, _ = d.Ledger.Reserve(ctx, r)
	return nil, errUnanswered
}

func (d unansweringLedger) Settle(ctx context.Context, call string, used limits.Amount) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.Ledger.Settle(ctx, call, used)
}

func TestUnansweredReservationIsReleased(t *testing.T) {
	l, _ := openLedger(t, open(t, t.TempDir(), store.Options{}))
	s := []limits.Subject{budgeted(t, "key:a", "100 tokens/day")}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the client has disconnected too
	_, _, err := limits.Reserve(ctx, unansweringLedger{l}, limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Tokens: 9}, Subjects: s})
	if !errors.Is(err, errUnanswered) {
		t.Errorf("got %v", err)
	}
	if b, err := l.Status(t.Context(), noon, s); err != nil || b[0].Reserved != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestEndedCallsAreForgottenInTheEnd(t *testing.T) {
	l, _ := openLedger(t, open(t, t.TempDir(), store.Options{QueueBytes: 1 << 30}))
	s := []limits.Subject{budgeted(t, "key:a", "100 tokens/day")}
	for i := range 3 * sqlite.RememberedCalls {
		r := limits.ReserveRequest{Call: fmt.Sprint(i), At: noon, Most: limits.Amount{Tokens: 1}, Subjects: s}
		switch _, err := l.Reserve(t.Context(), r); {
		case err != nil:
			t.Fatal(err)
		case i > 5: // the first ones are remembered
			if err := l.Settle(t.Context(), r.Call, limits.Amount{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := sqlite.Remembered(l); n > sqlite.RememberedCalls+6 || n < sqlite.RememberedCalls {
		t.Errorf("%d calls are remembered", n)
	}
	if b, err := l.Status(t.Context(), noon, s); err != nil || b[0].Reserved != 6 {
		t.Errorf("%+v, %v", b, err)
	}
}
