package limitstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func everythingOrNothing(t *testing.T, c *client) {
	poor, rich := subject("tenant:a", money(5*cent, limits.Total)), subject("key:a", money(100*cent, limits.Total))
	for _, order := range [][]limits.Subject{{poor, rich}, {rich, poor}} {
		r := reservation("call-"+order[0].Name, 6*cent, 0, order...)
		refusal := c.refused(r, "tenant:a")
		if refusal.Amount != 6*cent || refusal.Budget != poor.Budgets[0] || refusal.RetryAfter != 0 || !refusal.ResetsAt.IsZero() {
			t.Errorf("got %+v", refusal)
		}
	}
	c.status(Noon, []limits.Subject{poor, rich}, 0, 0, 0, 0)
	c.take(reservation("fits", 5*cent, 0, poor, rich))
	c.status(Noon, []limits.Subject{rich, poor}, 0, 5*cent, 0, 5*cent)
	c.settle("fits", 4*cent, 0)
	c.status(Noon, []limits.Subject{poor, rich}, 4*cent, 0, 4*cent, 0)
	c.refused(reservation("more", 2*cent, 0, rich, poor), "tenant:a")

	all := subject("key:all", money(1, limits.Monthly), money(1, limits.Total), money(1, limits.Daily))
	for len(all.Budgets) > 0 { // the budget that resets last
		last := all.Budgets[0]
		for _, b := range all.Budgets {
			if b.Period > last.Period {
				last = b
			}
		}
		refusal := c.refused(reservation("none of "+last.Period.String(), 2, 0, all), "key:all")
		if refusal.Budget != last {
			t.Errorf("refused by %v, want %v", refusal.Budget, last)
		}
		all.Budgets = slices.DeleteFunc(all.Budgets, func(b limits.Budget) bool { return b == last })
	}
}

func theLimitItself(t *testing.T, c *client) {
	s := subject("key:a", money(3, limits.Daily))
	c.exhausted(Noon, []limits.Subject{s}, "")
	c.take(reservation("1", 2, 0, s))
	c.take(reservation("2", 1, 0, s))
	c.exhausted(Noon, []limits.Subject{s}, "") // reserved is not spent
	refusal := c.refused(reservation("3", 1, 0, s), "key:a")
	if refusal.Spent != 0 || refusal.Reserved != 3 || refusal.RetryAfter != 12*time.Hour || refusal.Remaining() != 0 {
		t.Errorf("got %+v", refusal)
	}
	c.settle("1", 2, 0)
	c.settle("2", 1, 0)
	c.exhausted(Noon, []limits.Subject{s}, "key:a")
	c.refused(reservation("free", 0, 0, s), "key:a")
}

func repeatedMessages(_ *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily))
	r := reservation("1", 4, 0, s)
	r.Durable = true
	for range 3 {
		c.take(r)
		c.status(Noon, []limits.Subject{s}, 0, 4)
	}
	for range 3 {
		c.settle("1", 3, 0)
		c.settle("1", 9, 0) // only the first has an effect
		c.status(Noon, []limits.Subject{s}, 3, 0)
	}
}

func refusedStaysRefused(_ *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily))
	c.take(reservation("1", 10, 0, s))
	c.refused(reservation("2", 1, 0, s), "key:a")
	c.settle("1", 0, 0)
	c.refused(reservation("2", 1, 0, s), "key:a") // a copy of the message: nobody would settle it
	c.status(Noon, []limits.Subject{s}, 0, 0)
	c.settle("2", 1, 0)
	c.status(Noon, []limits.Subject{s}, 0, 0)
	c.take(reservation("3", 10, 0, s))
}

func lateReserve(t *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily))
	c.take(reservation("1", 4, 0, s))
	c.settle("1", 2, 0)
	if refusal, err := c.ask(reservation("1", 4, 0, s)); refusal != nil || !errors.Is(err, limits.ErrEnded) {
		t.Errorf("after the end: %+v, %v", refusal, err)
	}
	c.settle("2", 0, 0) // arrived before its reservation
	if refusal, err := c.ask(reservation("2", 4, 0, s)); refusal != nil || !errors.Is(err, limits.ErrEnded) {
		t.Errorf("overtaken: %+v, %v", refusal, err)
	}
	c.status(Noon, []limits.Subject{s}, 2, 0)
}

func unknownCall(_ *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily))
	c.settle("nobody", 5, 5)
	c.status(Noon, []limits.Subject{s}, 0, 0)
}

func overrun(t *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily), tokens(1000, limits.Daily))
	c.take(reservation("1", 10, 100, s))
	c.settle("1", 25, 100)
	b := c.status(Noon, []limits.Subject{s}, 25, 0, 100, 0)
	if b[0].Remaining() != 0 || b[1].Remaining() != 900 {
		t.Errorf("remaining %d, %d", b[0].Remaining(), b[1].Remaining())
	}
	c.exhausted(Noon, []limits.Subject{s}, "key:a")
	c.refused(reservation("2", 0, 1, s), "key:a")
	c.status(Noon, []limits.Subject{s}, 25, 0, 100, 0)
}

func softBudgets(_ *testing.T, c *client) {
	soft := money(100, limits.Daily)
	soft.Soft = true
	s := subject("key:a", soft, money(1000, limits.Monthly))
	r := reservation("1", 90, 0, s)
	r.Likely.Nano = 20
	c.take(r)
	c.status(Noon, []limits.Subject{s}, 0, 20, 0, 90)
	for _, call := range []string{"2", "3", "4", "5"} {
		r.Call = call
		c.take(r)
	}
	r.Call = "6"
	c.refused(r, "key:a")
	for _, call := range []string{"1", "2", "3", "4", "5"} {
		c.settle(call, 90, 0)
	}
	c.status(Noon, []limits.Subject{s}, 450, 0, 450, 0)
}

func tokensAndMoney(_ *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily), tokens(20, limits.Weekly), tokens(1000, limits.Total))
	c.take(reservation("1", 1, 18, s))
	c.settle("1", 2, 19)
	c.status(Noon, []limits.Subject{s}, 2, 0, 19, 0, 19, 0)
	c.refused(reservation("2", 1, 2, s), "key:a")
	c.take(reservation("3", 8, 1, s))
}

func wrongValues(t *testing.T, c *client) {
	day := money(1, limits.Daily)
	good := func() limits.ReserveRequest { return reservation("1", 1, 1, subject("key:a", day)) }
	for name, spoil := range map[string]func(*limits.ReserveRequest){
		"no call":         func(r *limits.ReserveRequest) { r.Call = "" },
		"long call":       func(r *limits.ReserveRequest) { r.Call = strings.Repeat("x", limits.MaxCall+1) },
		"negative":        func(r *limits.ReserveRequest) { r.Most.Nano = -1 },
		"no name":         func(r *limits.ReserveRequest) { r.Subjects[0].Name = "" },
		"long name":       func(r *limits.ReserveRequest) { r.Subjects[0].Name = strings.Repeat("x", limits.MaxName+1) },
		"requests":        func(r *limits.ReserveRequest) { r.Subjects[0].Budgets[0].Unit = limits.Requests },
		"no period":       func(r *limits.ReserveRequest) { r.Subjects[0].Budgets[0].Period = 0 },
		"no limit":        func(r *limits.ReserveRequest) { r.Subjects[0].Budgets[0].Limit = 0 },
		"same budget":     func(r *limits.ReserveRequest) { r.Subjects[0].Budgets = []limits.Budget{day, day} },
		"same subject":    func(r *limits.ReserveRequest) { r.Subjects = append(r.Subjects, r.Subjects[0]) },
		"many subjects":   func(r *limits.ReserveRequest) { r.Subjects = make([]limits.Subject, limits.MaxSubjects+1) },
		"before the time": func(r *limits.ReserveRequest) { r.At = time.Unix(-1, 0) },
		"after the time":  func(r *limits.ReserveRequest) { r.At = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		r := good()
		spoil(&r)
		if refusal, err := c.ask(r); refusal != nil || !errors.Is(err, limits.ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, refusal, err)
		}
	}
	c.take(good())
	for _, used := range []limits.Amount{{Nano: -1}, {Tokens: -1}} {
		err := try(func() error { return c.Settle(context.Background(), "1", used) })
		if !errors.Is(err, limits.ErrInvalid) {
			t.Errorf("settling %+v: %v", used, err)
		}
	}
	c.settle("1", 1, 1)
	c.status(Noon, good().Subjects, 1, 0)
}
