package sqlite_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Of several budgets that are short, the refusal names the one that keeps the call out longest,
// however they are configured.
func TestARefusalNamesTheBudgetThatResetsLast(t *testing.T) {
	at := time.Date(2026, 7, 8, 12, 0, 0, 0, time.UTC) // a Wednesday
	words := []string{"1usd/day", "1usd/week", "1usd/month", "1usd/total"}
	resets := map[limits.Period]time.Duration{
		limits.Daily: 12 * time.Hour, limits.Weekly: 4*limits.Day + 12*time.Hour, limits.Monthly: 23*limits.Day + 12*time.Hour, limits.Total: 0,
	}
	l := newLedger(t)
	for i, first := range words {
		for j, second := range words {
			for name, subjects := range map[string][]limits.Subject{
				"one subject": {budgeted(t, "key:a", first, second)}, "two": {budgeted(t, "key:a", first), budgeted(t, "key:b", second)},
			} {
				if i == j && name == "one subject" {
					continue
				}
				call := name + first + second
				refusal, err := l.Reserve(t.Context(), limits.ReserveRequest{Call: call, At: at, Most: limits.Amount{Nano: 2e9}, Subjects: subjects})
				if err != nil || refusal == nil {
					t.Fatalf("%s: %v, %v", call, refusal, err)
				}
				want := limits.Daily + limits.Period(max(i, j))
				if refusal.Budget.Period != want || refusal.RetryAfter != resets[want] || refusal.Amount != 2e9 || i == j && refusal.Subject != "key:a" {
					t.Errorf("%s: %+v, want %s", call, refusal, want)
				}
			}
		}
	}
}

func TestExhaustedNamesTheFirstBudgetThatIsSpent(t *testing.T) {
	l := newLedger(t)
	s := budgeted(t, "key:a", "2usd/total", "1usd/day", "1usd/week")
	if _, err := l.Reserve(t.Context(), limits.ReserveRequest{Call: "1", At: noon, Most: limits.Amount{Nano: 1e9}, Subjects: []limits.Subject{s}}); err != nil {
		t.Fatal(err)
	}
	if refusal, err := l.Exhausted(t.Context(), noon, []limits.Subject{s}); refusal != nil || err != nil {
		t.Errorf("while it is reserved: %+v, %v", refusal, err)
	}
	if err := l.Settle(t.Context(), "1", limits.Amount{Nano: 1e9}); err != nil {
		t.Fatal(err)
	}
	refusal, err := l.Exhausted(t.Context(), noon, []limits.Subject{{Name: "key:unknown"}, s})
	if err != nil || refusal == nil || refusal.Budget.Period != limits.Daily || refusal.Amount != 0 || refusal.RetryAfter != 12*time.Hour || refusal.Spent != 1e9 {
		t.Errorf("once it is spent: %+v, %v", refusal, err)
	}
	if refusal, err := l.Exhausted(t.Context(), noon.Add(12*time.Hour), []limits.Subject{budgeted(t, "key:a", "2usd/total", "1usd/day")}); refusal != nil || err != nil {
		t.Errorf("the next day: %+v, %v", refusal, err)
	}
}

func TestSettlingAnUnknownCallWritesNothing(t *testing.T) {
	l, s, _ := newFailingLedger(t)
	s.submit = errDisk
	for range 2 {
		if err := l.Settle(t.Context(), "unknown", limits.Amount{Nano: 1}); err != nil {
			t.Error(err)
		}
	}
}
