// Package limitstest tests whether a limits.Ledger keeps its contract, with a good network and a
// bad one.
//
//	func TestConformance(t *testing.T) { limitstest.Run(t, newLedger) }
//	func TestConformanceOnABadNetwork(t *testing.T) {
//		limitstest.Run(t, func(t *testing.T) limits.Ledger { return limitstest.NewUnreliable(newLedger(t), 1, nil) })
//	}
package limitstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Noon is the time at which the tests begin, a Wednesday in the middle of a month.
var Noon = time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)

const (
	// attempts is how often a message is repeated before the ledger counts as broken.
	attempts = 100
	cent     = 10_000_000 // nano-USD
)

// Run runs the tests, each on its own ledger. open returns an empty one and closes it with
// t.Cleanup.
func Run(t *testing.T, open func(*testing.T) limits.Ledger) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, *client)
	}{
		{"EverythingOrNothing", everythingOrNothing},
		{"TheLimitItselfMayBeUsed", theLimitItself},
		{"RepeatedMessagesCountOnce", repeatedMessages},
		{"RefusedCallStaysRefused", refusedStaysRefused},
		{"LateReserveTakesNothing", lateReserve},
		{"UnknownCallChargesNothing", unknownCall},
		{"MoreThanReservedIsChargedInFull", overrun},
		{"SoftBudgetsReserveTheEstimate", softBudgets},
		{"TokensAndMoneyAreApart", tokensAndMoney},
		{"CallBelongsToThePeriodOfItsAdmission", admission},
		{"PeriodsEndWithTheCalendar", calendar},
		{"ClockSetBackReopensNothing", clockBack},
		{"LimitsChangeWithoutForgetting", changedLimits},
		{"SubjectsThatSpent", subjects},
		{"WrongValuesAreRefused", wrongValues},
		{"StampedeStaysBelowTheLimit", concurrentCalls},
		{"OneCallReservedByMany", sameCall},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, &client{t, open(t)}) })
	}
}

// client repeats messages until they are answered, as the contract asks.
type client struct {
	t testing.TB
	limits.Ledger
}

// try repeats a message whose error may be temporary.
func try(message func() error) error {
	var err error
	for range attempts {
		if err = message(); err == nil || errors.Is(err, limits.ErrEnded) || errors.Is(err, limits.ErrInvalid) {
			return err
		}
	}
	return fmt.Errorf("%d attempts: %w", attempts, err)
}

func (c *client) ask(r limits.ReserveRequest) (refusal *limits.Refusal, err error) {
	err = try(func() (err error) {
		refusal, err = c.Ledger.Reserve(context.Background(), r)
		return err
	})
	return refusal, err
}

// take expects a reservation to be taken.
func (c *client) take(r limits.ReserveRequest) {
	c.t.Helper()
	if refusal, err := c.ask(r); refusal != nil || err != nil {
		c.t.Fatalf("call %q: %+v, %v", r.Call, refusal, err)
	}
}

// refused expects a reservation to be refused because of that subject.
func (c *client) refused(r limits.ReserveRequest, subject string) *limits.Refusal {
	c.t.Helper()
	refusal, err := c.ask(r)
	if err != nil || refusal == nil {
		c.t.Fatalf("call %q was not refused: %v", r.Call, err)
	}
	if refusal.Subject != subject {
		c.t.Fatalf("call %q was refused by %q, want %q", r.Call, refusal.Subject, subject)
	}
	return refusal
}

func (c *client) settle(call string, nano, tokens int64) {
	c.t.Helper()
	err := try(func() error { return c.Settle(context.Background(), call, limits.Amount{Nano: nano, Tokens: tokens}) })
	if err != nil {
		c.t.Fatalf("settling %q: %v", call, err)
	}
}

// status expects spent and reserved of each budget, in pairs.
func (c *client) status(at time.Time, subjects []limits.Subject, want ...int64) []limits.Balance {
	c.t.Helper()
	var balances []limits.Balance
	err := try(func() (err error) {
		balances, err = c.Status(context.Background(), at, subjects)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	var got []int64
	for _, b := range balances {
		got = append(got, b.Spent, b.Reserved)
	}
	if !slices.Equal(got, want) {
		c.t.Fatalf("spent and reserved %v, want %v", got, want)
	}
	return balances
}

// exhausted expects that subject's budget to be used up; "" means none.
func (c *client) exhausted(at time.Time, subjects []limits.Subject, want string) {
	c.t.Helper()
	var refusal *limits.Refusal
	err := try(func() (err error) {
		refusal, err = c.Exhausted(context.Background(), at, subjects)
		return err
	})
	got := ""
	if refusal != nil {
		got = refusal.Subject
	}
	if err != nil || got != want {
		c.t.Fatalf("exhausted is %q, %v; want %q", got, err, want)
	}
}

func subject(name string, budgets ...limits.Budget) limits.Subject {
	return limits.Subject{Name: name, Budgets: budgets}
}

func money(limit int64, p limits.Period) limits.Budget {
	return limits.Budget{Unit: limits.Money, Limit: limit, Period: p}
}

func tokens(limit int64, p limits.Period) limits.Budget {
	return limits.Budget{Unit: limits.Tokens, Limit: limit, Period: p}
}

// reservation asks for the same money and tokens of all subjects, at noon.
func reservation(call string, nano, tokens int64, subjects ...limits.Subject) limits.ReserveRequest {
	a := limits.Amount{Nano: nano, Tokens: tokens}
	return limits.ReserveRequest{Call: call, At: Noon, Most: a, Likely: a, Subjects: subjects}
}
