package sqlite_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func stored(t testing.TB, st *store.Store, now func() time.Time) *sqlite.Rates {
	t.Helper()
	r, err := sqlite.NewRates(t.Context(), st, now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func count(t testing.TB, st *store.Store, query string) (n int) {
	t.Helper()
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := st.Reader().QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLongWindowsSurviveARestart(t *testing.T) {
	dir := t.TempDir()
	c := &clock{noon}
	s := []limits.Subject{rated(t, "key:a", "100/min", "10/h", "1000 tokens/day")}
	st := open(t, dir, store.Options{CommitInterval: time.Hour})
	r := stored(t, st, c.now)
	for range 4 {
		r.Ask(s)
	}
	_, g, _ := r.Take(900, s)
	if n := count(t, st, "SELECT count(*) FROM rate"); n != 2 {
		t.Errorf("%d rows, want one an hour and one a day", n)
	}
	c.at = c.at.Add(20 * time.Minute)
	for range 3 {
		r.Ask(s)
	}
	g.Adjust(250)
	before := r.Look(limits.Requests, s)
	st.Close()

	for range 2 { // nothing is counted twice
		st = open(t, dir, store.Options{})
		r = stored(t, st, c.now)
		if got := r.Look(limits.Requests, s); got != before || got.Remaining != 3 {
			t.Errorf("requests: %+v, before %+v", got, before)
		}
		if got := r.Look(limits.Tokens, s); got.Remaining != 750 {
			t.Errorf("tokens: %+v", got)
		}
		if got := r.Look(limits.Requests, []limits.Subject{rated(t, "key:a", "100/min")}); got.Remaining != 100 {
			t.Errorf("a minute: %+v", got)
		}
		st.Close()
	}
	c.at = noon.Add(61 * time.Minute)
	r = stored(t, open(t, dir, store.Options{}), c.now)
	if got := r.Look(limits.Requests, s); got.Remaining != 7 {
		t.Errorf("after the first four have expired: %+v", got)
	}
}

func TestRestartWithTheClockSetBack(t *testing.T) {
	dir := t.TempDir()
	c := &clock{noon}
	s := []limits.Subject{rated(t, "key:a", "10/h")}
	st := open(t, dir, store.Options{})
	r := stored(t, st, c.now)
	for range 6 {
		r.Ask(s)
	}
	st.Close()
	c.at = noon.AddDate(-1, 0, 0)
	for range 2 {
		st = open(t, dir, store.Options{})
		if got := stored(t, st, c.now).Look(limits.Requests, s); got.Remaining != 4 || got.Reset > 61*time.Minute {
			t.Errorf("a year back: %+v", got)
		}
		if n := count(t, st, "SELECT count(*) FROM rate"); n != 1 {
			t.Errorf("%d rows", n)
		}
		st.Close()
	}
	c.at = c.at.Add(time.Hour + time.Minute)
	if got := stored(t, open(t, dir, store.Options{}), c.now).Look(limits.Requests, s); got.Remaining != 10 {
		t.Errorf("an hour later: %+v", got)
	}
}

func TestRatesWorkWithoutTheStore(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	c := &clock{noon}
	r := stored(t, st, c.now)
	st.Close()
	s := []limits.Subject{rated(t, "key:a", "2/h")}
	for i := range 4 {
		if _, refusal := r.Ask(s); (refusal != nil) != (i >= 2) {
			t.Errorf("request %d: %+v", i, refusal)
		}
	}
	if _, err := sqlite.NewRates(t.Context(), st, c.now); err == nil {
		t.Error("rates of a closed store can be read")
	}
}

func TestWindowIsWrittenAfterTheStoreWasFull(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	r := stored(t, st, (&clock{noon}).now)
	s := []limits.Subject{rated(t, "key:a", "10/h")}
	sqlite.ReplaceRatesSink(r, &failingStore{Store: st, submit: store.ErrFull})
	r.Ask(s)
	sqlite.ReplaceRatesSink(r, st)
	r.Ask(s)
	if n := count(t, st, "SELECT count FROM rate"); n != 2 {
		t.Errorf("%d on disk", n)
	}
}

func TestSlotsThatLeftTheirWindowArePruned(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{PruneInterval: 2 * time.Hour, Prune: []store.PruneFunc{sqlite.PruneRates(time.Now)}})
		r := stored(t, st, time.Now)
		s := []limits.Subject{rated(t, "key:a", "10k/h", "10k/day")}
		for range 50 {
			r.Ask(s)
			time.Sleep(time.Minute)
		}
		if n := count(t, st, "SELECT count(*) FROM rate WHERE window = 'h'"); n != 50 {
			t.Errorf("%d rows of the hour", n)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := count(t, st, "SELECT count(*) FROM rate WHERE window = 'h'"); n != 0 {
			t.Errorf("%d rows of the hour are left", n)
		}
		if n := count(t, st, "SELECT sum(count) FROM rate WHERE window = 'day'"); n != 50 {
			t.Errorf("the day counts %d", n)
		}
		st.Close()
	})
}
