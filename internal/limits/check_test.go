package limits_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestContradictingLimitsAreRefused(t *testing.T) {
	perMinute := limits.Rate{Unit: limits.Requests, Limit: 1, Window: time.Minute}
	daily := limits.Budget{Unit: limits.Money, Limit: 1, Period: limits.Daily}
	soft := limits.Budget{Unit: limits.Money, Limit: 2, Period: limits.Daily, Soft: true}
	tokens := limits.Rate{Unit: limits.Tokens, Limit: 1, Window: time.Minute}
	good := limits.Subject{Name: "key:a", Rates: []limits.Rate{perMinute, tokens}, Budgets: []limits.Budget{daily, {Unit: limits.Tokens, Limit: 1, Period: limits.Daily}}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, s := range map[string]limits.Subject{
		"no name":         {},
		"long name":       {Name: strings.Repeat("x", limits.MaxName+1)},
		"same rate":       {Name: "a", Rates: []limits.Rate{perMinute, perMinute}},
		"rate of money":   {Name: "a", Rates: []limits.Rate{{Unit: limits.Money, Limit: 1, Window: time.Minute}}},
		"odd window":      {Name: "a", Rates: []limits.Rate{{Unit: limits.Requests, Limit: 1, Window: time.Minute + 1}}},
		"rate of nothing": {Name: "a", Rates: []limits.Rate{{Unit: limits.Requests, Window: time.Minute}}},
		"many rates":      {Name: "a", Rates: make([]limits.Rate, limits.MaxRules+1)},
		"same budget":     {Name: "a", Budgets: []limits.Budget{daily, soft}},
		"odd period":      {Name: "a", Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1, Period: limits.Total + 1}}},
		"many budgets":    {Name: "a", Budgets: make([]limits.Budget, limits.MaxRules+1)},
		"concurrency":     {Name: "a", Concurrency: limits.Concurrency{Limit: -1}},
		"endless wait":    {Name: "a", Concurrency: limits.Concurrency{Limit: 1, Queue: 1, Wait: time.Hour}},
	} {
		if err := s.Check(); !errors.Is(err, limits.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The expected periods are computed with package time.
func TestPeriodsFollowTheCalendar(t *testing.T) {
	step := 5*time.Hour + 59*time.Minute + 59*time.Second + 999*time.Millisecond
	for at := time.Unix(0, 0).UTC(); at.Year() < 2034; at = at.Add(step) {
		day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
		monday := day
		for monday.Weekday() != time.Monday {
			monday = monday.AddDate(0, 0, -1)
		}
		if monday.Unix() < 0 {
			monday = time.Unix(0, 0).UTC() // the first full week after 1970 began on 5 January
		}
		first := day.AddDate(0, 0, 1-day.Day())
		for p, want := range map[limits.Period][2]time.Time{
			limits.Daily:   {day, day.AddDate(0, 0, 1)},
			limits.Weekly:  {monday, monday.AddDate(0, 0, 7)},
			limits.Monthly: {first, first.AddDate(0, 1, 0)},
		} {
			if p == limits.Weekly && monday.Unix() == 0 {
				continue
			}
			begins, ends := p.Span(at)
			if !begins.Equal(want[0]) || !ends.Equal(want[1]) {
				t.Fatalf("%s of %v is %v to %v, want %v", p, at, begins, ends, want)
			}
			if b, e, err := p.ParseName(p.Name(begins)); b != begins || e != ends || err != nil {
				t.Fatalf("%s of %v is read back as %v to %v, %v", p, at, b, e, err)
			}
		}
	}
}
