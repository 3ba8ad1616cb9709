package limitstest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func at(r limits.ReserveRequest, at time.Time) limits.ReserveRequest {
	r.At = at
	return r
}

func admission(t *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily), money(100, limits.Total))
	tomorrow := Noon.Add(24 * time.Hour)
	c.take(reservation("1", 10, 0, s))
	c.take(at(reservation("2", 7, 0, s), tomorrow))
	c.status(tomorrow, []limits.Subject{s}, 0, 7, 0, 17)
	c.settle("1", 9, 0) // ends the day after it began
	b := c.status(tomorrow, []limits.Subject{s}, 0, 7, 9, 7)
	if want := time.Date(2026, 5, 15, 0, 0, 0, 0, time.UTC); !b[0].ResetsAt.Equal(want) || !b[1].ResetsAt.IsZero() {
		t.Errorf("resets at %v and %v", b[0].ResetsAt, b[1].ResetsAt)
	}
	c.settle("2", 5, 0)
	c.status(tomorrow, []limits.Subject{s}, 5, 0, 14, 0)
}

func calendar(t *testing.T, c *client) {
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	for _, tt := range []struct {
		period       limits.Period
		begins, ends time.Time
	}{
		{limits.Daily, day(5, 13), day(5, 14)},
		{limits.Weekly, day(5, 11), day(5, 18)}, // Mondays
		{limits.Monthly, day(5, 1), day(6, 1)},
	} {
		s := subject("key:"+tt.period.String(), money(10, tt.period))
		call := tt.period.String()
		c.take(at(reservation(call+"1", 10, 0, s), tt.begins))
		c.settle(call+"1", 10, 0)
		last := tt.ends.Add(-time.Nanosecond)
		b := c.status(last, []limits.Subject{s}, 10, 0)
		if !b[0].Begins.Equal(tt.begins) || !b[0].ResetsAt.Equal(tt.ends) {
			t.Errorf("%s: from %v to %v", tt.period, b[0].Begins, b[0].ResetsAt)
		}
		refusal := c.refused(at(reservation(call+"2", 1, 0, s), last), s.Name)
		if refusal.RetryAfter != time.Nanosecond {
			t.Errorf("%s: retry after %v", tt.period, refusal.RetryAfter)
		}
		c.take(at(reservation(call+"3", 10, 0, s), tt.ends))
		c.status(tt.ends, []limits.Subject{s}, 0, 10)
	}
}

func clockBack(t *testing.T, c *client) {
	s := subject("key:a", money(10, limits.Daily))
	yesterday := Noon.Add(-24 * time.Hour)
	c.take(reservation("1", 6, 0, s))
	c.settle("1", 6, 0)
	refusal := c.refused(at(reservation("2", 5, 0, s), yesterday), "key:a")
	if refusal.RetryAfter != 36*time.Hour {
		t.Errorf("retry after %v", refusal.RetryAfter)
	}
	c.take(at(reservation("3", 4, 0, s), yesterday))
	c.settle("3", 4, 0)
	c.exhausted(yesterday, []limits.Subject{s}, "key:a")
	c.status(Noon, []limits.Subject{s}, 10, 0)
	c.status(Noon.Add(24*time.Hour), []limits.Subject{s}, 0, 0)
}

func changedLimits(_ *testing.T, c *client) {
	c.take(reservation("1", 8, 0, subject("key:a", money(10, limits.Daily))))
	lower, higher := subject("key:a", money(5, limits.Daily)), subject("key:a", money(20, limits.Daily))
	c.refused(reservation("2", 1, 0, lower), "key:a")
	c.take(reservation("3", 12, 0, higher))
	c.settle("1", 8, 0)
	c.exhausted(Noon, []limits.Subject{lower}, "key:a")
	c.exhausted(Noon, []limits.Subject{higher}, "")
	c.status(Noon, []limits.Subject{higher}, 8, 12)
}

func subjects(t *testing.T, c *client) {
	for name, b := range map[string]limits.Budget{
		"key:day": money(10, limits.Daily), "key:month": money(10, limits.Monthly), "key:total": tokens(10, limits.Total), "key:nothing": money(10, limits.Total),
	} {
		c.take(reservation(name, 1, 1, subject(name, b)))
		if name != "key:nothing" {
			c.settle(name, 1, 1)
		}
	}
	for _, tt := range []struct {
		at   time.Time
		want []string
	}{
		{Noon, []string{"key:day", "key:month", "key:total"}},
		{Noon.AddDate(0, 0, 1), []string{"key:month", "key:total"}},
		{Noon.AddDate(0, 1, 0), []string{"key:total"}},
	} {
		var got []string
		err := try(func() (err error) {
			got, err = c.Subjects(context.Background(), tt.at)
			return err
		})
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("at %v: %q, %v; want %q", tt.at, got, err, tt.want)
		}
	}
	unnamed, err := limits.Unnamed(context.Background(), c, Noon, func(s string) bool { return s != "key:month" })
	for range attempts {
		if err == nil {
			break
		}
		unnamed, err = limits.Unnamed(context.Background(), c, Noon, func(s string) bool { return s != "key:month" })
	}
	if err != nil || !slices.Equal(unnamed, []string{"key:month"}) {
		t.Errorf("unnamed: %q, %v", unnamed, err)
	}
}
