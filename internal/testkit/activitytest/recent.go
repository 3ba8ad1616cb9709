package activitytest

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// oldSums checks who gets an answer that was made for another query: only who may see the same, and
// allows its age.
func oldSums(t *testing.T, log activity.Log) {
	ask := func(maxAge time.Duration, at time.Duration, change ...func(*activity.SeriesQuery)) int64 {
		t.Helper()
		q := activity.SeriesQuery{
			Tenant: "default", By: "key", Step: int64(time.Hour), Top: 10, From: Noon.Truncate(time.Hour), To: Noon.Truncate(time.Hour).Add(time.Hour),
			MaxAge: maxAge, Asked: Noon.Add(at),
		}
		for _, f := range change {
			f(&q)
		}
		s, err := log.Series(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return s.All.Total.Requests
	}
	want := func(what string, got, want int64) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d calls, want %d", what, got, want)
		}
	}
	const minute = time.Minute
	log.Append(Call(1))
	want("the first", ask(minute, 0), 1)
	log.Append(Call(2))
	other := Call(3)
	other.Tenant, other.Key = "umbrella", "other"
	log.Append(other)
	want("within the age", ask(minute, minute), 1)
	want("of less age", ask(minute-1, minute), 2)
	want("no age is allowed", ask(0, 0), 2)
	for what, change := range map[string]func(*activity.SeriesQuery){
		"another tenant": func(q *activity.SeriesQuery) { q.Tenant = "umbrella" },
		"another key":    func(q *activity.SeriesQuery) { q.Key = "other" },
		"another model":  func(q *activity.SeriesQuery) { q.Model = "other" },
	} {
		if got := ask(minute, minute, change); got == 2 || what != "another tenant" && got != 0 {
			t.Errorf("%s gets the sums of %d calls", what, got)
		}
	}
	want("all tenants", ask(minute, minute, func(q *activity.SeriesQuery) { q.Tenant, q.AllTenants = "", true }), 3)
	log.Append(Call(4))
	want("no answer is over a minute old", ask(time.Hour, 2*minute+1), 3)
	log.Append(Call(5))
	want("an answer of later", ask(minute, minute), 4)
}
