package limits_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestConfiguredLimitsAtTheirBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		s   limits.Subject
		bad bool
	}{
		"the most":      {limits.Subject{Name: strings.Repeat("x", 512), Concurrency: limits.Concurrency{Limit: 1_000_000, Queue: 1_000_000, Wait: time.Minute}}, false},
		"no limit":      {limits.Subject{Name: "a"}, false},
		"a long name":   {limits.Subject{Name: strings.Repeat("x", 513)}, true},
		"no calls":      {limits.Subject{Name: "a", Concurrency: limits.Concurrency{Limit: -1}}, true},
		"no queue":      {limits.Subject{Name: "a", Concurrency: limits.Concurrency{Queue: -1}}, true},
		"no wait":       {limits.Subject{Name: "a", Concurrency: limits.Concurrency{Wait: -1}}, true},
		"many calls":    {limits.Subject{Name: "a", Concurrency: limits.Concurrency{Limit: 1_000_001}}, true},
		"a long queue":  {limits.Subject{Name: "a", Concurrency: limits.Concurrency{Queue: 1_000_001}}, true},
		"a long wait":   {limits.Subject{Name: "a", Concurrency: limits.Concurrency{Wait: time.Minute + 1}}, true},
		"a bad budget":  {limits.Subject{Name: "a", Budgets: []limits.Budget{{Unit: limits.Money, Limit: 1}}}, true},
		"a bad 2. rate": {limits.Subject{Name: "a", Rates: []limits.Rate{{Unit: limits.Tokens, Limit: 1, Window: time.Hour}, {Unit: limits.Tokens, Window: time.Minute}}}, true},
	} {
		if err := tc.s.Check(); errors.Is(err, limits.ErrInvalid) != tc.bad || !tc.bad && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWordsOf64CharactersAreRead(t *testing.T) {
	text := strings.Repeat("0", 58) + "60/min"
	if r, err := limits.ParseRate(text); err != nil || r.Limit != 60 {
		t.Errorf("64 characters: %+v, %v", r, err)
	}
	if _, err := limits.ParseRate("0" + text); err == nil || !strings.Contains(err.Error(), "more than 64 characters") {
		t.Errorf("65 characters: %v", err)
	}
}

func TestWhatIsNoUnitPeriodOrWindowIsNamedSo(t *testing.T) {
	for want, got := range map[string]string{
		"unknown":      limits.Unit(0).String() + strings.TrimPrefix(limits.Unit(4).String(), "unknown"),
		"unknown/":     limits.Period(0).String() + "/" + strings.TrimPrefix((limits.Total+1).String(), "unknown"),
		"5/2m0s":       limits.Rate{Unit: limits.Requests, Limit: 5, Window: 2 * time.Minute}.String(),
		"5 tokens/h":   limits.Rate{Unit: limits.Tokens, Limit: 5, Window: time.Hour}.String(),
		"5usd/month":   limits.Budget{Unit: limits.Money, Limit: 5e9, Period: limits.Monthly}.String(),
		"5 tokens/day": limits.Budget{Unit: limits.Tokens, Limit: 5, Period: limits.Daily}.String(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheFirstWeekBeginsWithTime(t *testing.T) {
	begins, ends := limits.Weekly.Span(time.Unix(0, 0).AddDate(0, 0, 2))
	if !begins.Equal(time.Unix(0, 0)) || !ends.Equal(time.Date(1970, 1, 5, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("from %v to %v", begins, ends)
	}
}

func TestWhatRemainsIsNeverBelowZero(t *testing.T) {
	for _, tc := range [][4]int64{ // limit, spent, reserved, remaining
		{10, 3, 4, 3}, {10, 10, 0, 0}, {10, 11, 0, 0}, {10, 0, 11, 0},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64, 0}, {math.MaxInt64, 1, math.MaxInt64 - 2, 1},
	} {
		b := limits.Balance{Budget: limits.Budget{Limit: tc[0]}, Spent: tc[1], Reserved: tc[2]}
		if got := b.Remaining(); got != tc[3] {
			t.Errorf("%d spent and %d reserved of %d: %d remain, want %d", tc[1], tc[2], tc[0], got, tc[3])
		}
	}
}
