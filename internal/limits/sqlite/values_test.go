package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
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
