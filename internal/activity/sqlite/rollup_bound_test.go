package sqlite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

// A provider that takes every name of a model lets a caller invent names without end.
func TestInventedModelsMakeFewSums(t *testing.T) {
	st, log := open(t, store.Options{CommitInterval: time.Hour})
	const calls = 640
	var all activity.Sums
	for i := range calls {
		r := record(i)
		r.CreatedAt, r.Key, r.Model = noon.Add(-time.Duration(i%3)*time.Hour), "dev", fmt.Sprint("invented", i)
		if i == calls-1 {
			r.Key, r.Model = "ci", "acme/other"
		}
		log.Append(r)
		all = activitytest.Plus(all, activitytest.SumsOf(r))
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for table, most := range map[string]int{"activity_hours": 3*(200+1) + 1, "activity_days": 500 + 1 + 1} {
		if n := count(t, st, table); n > most {
			t.Errorf("%s has %d rows, want at most %d", table, n, most)
		}
	}
	for _, q := range []string{"step=day", "step=hour", "step=day&by=key"} {
		if got := activitytest.Series(t, log, q).All.Total.Sums; got != all {
			t.Errorf("%s: %+v, want %+v", q, got, all)
		}
	}
	var days activity.Sums
	sums, err := log.Daily(t.Context(), activity.Filter{Tenant: "default"})
	for _, d := range sums {
		days = activitytest.Plus(days, d.Sums)
	}
	if err != nil || days != all {
		t.Errorf("the days are %+v, want %+v; %v", days, all, err)
	}
	if got := activitytest.Series(t, log, "by=model&key=ci").Series; len(got) != 1 || got[0].Name != "acme/other" {
		t.Errorf("the models of another key are %+v", got)
	}
}

func count(t testing.TB, st *store.Store, table string) (n int) {
	t.Helper()
	if err := st.Reader().QueryRowContext(context.Background(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What a tenant or a key has cost has an answer, whatever number of models its calls have named.
func TestCostsHaveOneRowADay(t *testing.T) {
	st, log := open(t, store.Options{})
	log.Bounds.Days = 2
	for i := range 6 {
		r := record(i)
		r.CreatedAt, r.Key, r.Model, r.CostNano = noon.Add(-time.Duration(i/3)*24*time.Hour), fmt.Sprint("k", i%2), fmt.Sprint("m", i), 1
		log.Append(r)
	}
	check := func(when string) {
		t.Helper()
		for key, want := range map[string]string{"": "2026-05-03=3 2026-05-04=3", "k0": "2026-05-03=1 2026-05-04=2", "k2": ""} {
			days, err := log.Costs(t.Context(), "default", key)
			var got []string
			for _, d := range days {
				got = append(got, fmt.Sprint(d.Date, "=", d.CostNano))
			}
			if strings.Join(got, " ") != want || err != nil {
				t.Errorf("%s: of key %q: %v, %v; want %s", when, key, got, err, want)
			}
		}
	}
	check("from the sums")
	execute(t, st, "UPDATE activity_rollup SET clearing = 1")
	check("from the rows")
}

// Names of models that no provider has are read from the records of few days only.
func TestInventedModelsMakeDailySumsReadFewRecords(t *testing.T) {
	st, log := open(t, store.Options{})
	log.Bounds.NamedRows = 25
	for i := range 30 {
		r := record(i)
		r.CreatedAt = noon.Add(-time.Duration(i/10) * 24 * time.Hour)
		if i%10 == 0 {
			r.Model, r.Provider, r.Code = "invented", "", "model_not_found"
		}
		log.Append(r)
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	days, err := log.Daily(t.Context(), activity.Filter{Tenant: "default"})
	var got []string
	for _, d := range days {
		got = append(got, fmt.Sprintf("%s %s=%d", d.Date[8:], d.Model, d.Requests))
	}
	if text := strings.Join(got, ", "); err != nil || text != "04 invented=1, 04 openai/gpt=9, 03 invented=1, 03 openai/gpt=9, 02 =1, 02 openai/gpt=9" {
		t.Errorf("%s, %v", text, err)
	}
}

// Whatever a name consists of, it comes back.
func TestSeriesHaveAnyName(t *testing.T) {
	_, log := open(t, store.Options{})
	names := []string{"a\x00b", "1000", "9999acme", "\xff\xfe", "", "é", strings.Repeat("x", 256), strings.Repeat("x", 255) + "y", "'"}
	for i, name := range names {
		r := record(i)
		r.CreatedAt, r.Model, r.CostNano = noon, name, int64(1+i)
		r.Code = []string{"", "upstream_error"}[i%2]
		log.Append(r)
	}
	for _, step := range []string{"day", "hour"} {
		got := activitytest.Series(t, log, "step="+step).Series
		if len(got) != len(names) {
			t.Fatalf("%d series", len(got))
		}
		for _, line := range got {
			i := int(line.Total.CostNano) - 1
			if i < 0 || i >= len(names) || line.Name != names[i] || line.Total.Errors != int64(i%2) {
				t.Errorf("%q has %+v", line.Name, line.Total.Sums)
			}
		}
	}
	days, err := log.Daily(t.Context(), activity.Filter{Tenant: "default"})
	for _, d := range days {
		if i := int(d.CostNano) - 1; i < 0 || i >= len(names) || d.Model != names[i] || d.Provider != "openai" {
			t.Errorf("%q of %q has %+v", d.Model, d.Provider, d.Sums)
		}
	}
	if err != nil || len(days) != len(names) {
		t.Errorf("%d days, %v", len(days), err)
	}
}
