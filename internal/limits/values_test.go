package limits_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

var lastSecond = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

func TestReservationsAtTheirBounds(t *testing.T) {
	daily := []limits.Budget{{Unit: limits.Money, Limit: 1e9, Period: limits.Daily}}
	named := func(n int) (subjects []limits.Subject) {
		for i := range n {
			subjects = append(subjects, limits.Subject{Name: "key:" + strings.Repeat("x", i), Budgets: daily})
		}
		return subjects
	}
	l := newLedger(t)
	for name, tc := range map[string]struct {
		spoil func(*limits.ReserveRequest)
		bad   bool
	}{
		"nothing at all":    {func(r *limits.ReserveRequest) { r.Most, r.Likely = limits.Amount{}, limits.Amount{} }, false},
		"most money":        {func(r *limits.ReserveRequest) { r.Most.Nano = -1 }, true},
		"most tokens":       {func(r *limits.ReserveRequest) { r.Most.Tokens = -1 }, true},
		"likely money":      {func(r *limits.ReserveRequest) { r.Likely.Nano = -1 }, true},
		"likely tokens":     {func(r *limits.ReserveRequest) { r.Likely.Tokens = -1 }, true},
		"an id of 256":      {func(r *limits.ReserveRequest) { r.Call = strings.Repeat("x", 256) }, false},
		"an id of 257":      {func(r *limits.ReserveRequest) { r.Call = strings.Repeat("x", 257) }, true},
		"a name of 512":     {func(r *limits.ReserveRequest) { r.Subjects[0].Name = strings.Repeat("x", 512) }, false},
		"a name of 513":     {func(r *limits.ReserveRequest) { r.Subjects[0].Name = strings.Repeat("x", 513) }, true},
		"8 subjects":        {func(r *limits.ReserveRequest) { r.Subjects = named(8) }, false},
		"9 subjects":        {func(r *limits.ReserveRequest) { r.Subjects = named(9) }, true},
		"the first second":  {func(r *limits.ReserveRequest) { r.At = time.Unix(0, 0) }, false},
		"before it":         {func(r *limits.ReserveRequest) { r.At = time.Unix(-1, 0) }, true},
		"the last second":   {func(r *limits.ReserveRequest) { r.At = lastSecond }, false},
		"after it":          {func(r *limits.ReserveRequest) { r.At = lastSecond.Add(time.Second) }, true},
		"the second's name": {func(r *limits.ReserveRequest) { r.Subjects = append(named(2), named(2)[1]) }, true},
		"the second budget": {func(r *limits.ReserveRequest) {
			r.Subjects[0].Budgets = append(daily[:1:1], limits.Budget{Unit: limits.Money, Period: limits.Weekly})
		}, true},
	} {
		r := limits.ReserveRequest{Call: name, At: noon, Subjects: named(1)}
		tc.spoil(&r)
		refusal, err := l.Reserve(t.Context(), r)
		if refusal != nil || errors.Is(err, limits.ErrInvalid) != tc.bad || !tc.bad && err != nil {
			t.Errorf("%s: %+v, %v", name, refusal, err)
		}
	}
	for _, call := range []string{"", strings.Repeat("x", 257)} {
		if err := l.Settle(t.Context(), call, limits.Amount{}); !errors.Is(err, limits.ErrInvalid) {
			t.Errorf("settling an id of %d bytes: %v", len(call), err)
		}
	}
	if err := l.Settle(t.Context(), strings.Repeat("x", 256), limits.Amount{}); err != nil {
		t.Errorf("settling an id of 256 bytes: %v", err)
	}
	for what, err := range map[string]error{
		"exhausted": second(l.Exhausted(t.Context(), time.Unix(-1, 0), nil)),
		"status":    second(l.Status(t.Context(), time.Unix(-1, 0), nil)),
	} {
		if !errors.Is(err, limits.ErrInvalid) {
			t.Errorf("%s before the first second: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

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
	begins, ends := limits.Span(limits.Weekly, time.Unix(0, 0).AddDate(0, 0, 2))
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

func TestExhaustedBudgetReportsItsReset(t *testing.T) {
	l := newLedger(t)
	s := []limits.Subject{budgeted(t, "key:a", "5 tokens/day")}
	if _, err := l.Reserve(t.Context(), limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Tokens: 5}, Subjects: s}); err != nil {
		t.Fatal(err)
	}
	if err := l.Settle(t.Context(), "1", limits.Amount{Tokens: 5}); err != nil {
		t.Fatal(err)
	}
	midnight := noon.Add(-12 * time.Hour)
	want := limits.Refusal{
		Balance:    limits.Balance{Subject: "key:a", Budget: s[0].Budgets[0], Spent: 5, Begins: midnight, ResetsAt: midnight.AddDate(0, 0, 1)},
		RetryAfter: 11 * time.Hour,
	}
	if got, err := l.Exhausted(t.Context(), noon.Add(time.Hour), s); err != nil || got == nil || *got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
}

func TestOfBudgetsThatResetTogetherTheFirstIsReported(t *testing.T) {
	s := []limits.Subject{budgeted(t, "key:a", "0.000000001usd/day", "1 tokens/day"), budgeted(t, "tenant:a", "0.000000001usd/day")}
	r := limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Nano: 2, Tokens: 2}, Subjects: s}
	if refusal, err := newLedger(t).Reserve(t.Context(), r); err != nil || refusal == nil || refusal.Subject != "key:a" || refusal.Budget != s[0].Budgets[0] {
		t.Errorf("%+v, %v", refusal, err)
	}
}
