package sqlite_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

// kept opens a store with the pruner, appends, lets a day pass and returns what is left of each
// tenant.
func kept(t *testing.T, keep activity.Retention, records []*activity.Record) map[string]string {
	dir := t.TempDir()
	got := map[string]string{}
	synctest.Test(t, func(t *testing.T) {
		pruner := sqlite.NewPruner(func() time.Time { return noon }, activity.Retention{}, zap.NewNop())
		st, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqlite.Schema}, Prune: []store.PruneFunc{pruner.Prune}, PruneInterval: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		log := sqlite.New(st)
		for _, r := range records {
			log.Append(r)
		}
		if err := st.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		pruner.Set(keep)
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		for _, tenant := range []string{"a", "default", "z"} {
			f := activity.Filter{Tenant: tenant, Limit: activity.MaxLimit}
			page := activitytest.Query(t, log, f)
			got[tenant] = activitytest.IDs(page.Records)
		}
	})
	return got
}

func TestRetentionThatIsNotSetIsTheDefault(t *testing.T) {
	want := activity.Retention{Age: activity.DefaultAge, Size: activity.DefaultSize, Series: activity.DefaultSeries}
	for _, keep := range []activity.Retention{{}, {Age: -1, Size: -1, Series: -1}} {
		if got := keep.OrDefault(); got != want {
			t.Errorf("%+v became %+v", keep, got)
		}
	}
}

func TestOldRecordsAreDeleted(t *testing.T) {
	var records []*activity.Record
	for i := range 1100 { // more than two batches
		r := record(0)
		r.Tenant, r.CreatedAt = "default", noon.Add(-8*24*time.Hour)
		if i == 0 {
			r.CreatedAt = noon.Add(1000 * time.Hour) // written while the clock was wrong: it does not delay the others
			r.ID = "gen-future"
		}
		records = append(records, r)
	}
	for i, tenant := range []string{"a", "a", "z", "z"} {
		r := record(i)
		r.Tenant = tenant
		r.CreatedAt = noon.Add(-7*24*time.Hour + time.Duration(2*i-3)*time.Second)
		records = append(records, r)
	}
	got := kept(t, activity.Retention{Age: 7 * 24 * time.Hour}, records)
	if got["a"] != "" || got["default"] != "future" || got["z"] != "3 2" {
		t.Errorf("left %q", got)
	}
}

func TestOldestAreDeletedWhenTheDatabaseIsTooLarge(t *testing.T) {
	var records []*activity.Record
	for i := range 1000 {
		records = append(records, record(i))
	}
	if got := kept(t, activity.Retention{}, records); len(got["default"]) == 0 {
		t.Fatal("the defaults delete fresh records")
	}
	got := kept(t, activity.Retention{Size: 350_000}, records)["default"]
	if len(got) < 4 || got[:4] != "999 " || len(got) > 3500 {
		t.Errorf("left %.40q… of %d bytes", got, len(got))
	}
	if got := kept(t, activity.Retention{Size: 1}, records); got["default"] != "" {
		t.Errorf("left %.40q with no space for anything", got)
	}
}

// A clock that is wrong would delete everything.
func TestRowsOfManyDaysAreDeletedOnlyAfterAnHour(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		pruner := sqlite.NewPruner(func() time.Time { return noon.Add(time.Since(began)) }, activity.Retention{Age: 24 * time.Hour}, zap.NewNop())
		st, log := openDir(t, dir, store.Options{Schemas: []store.Schema{sqlite.Schema}, Prune: []store.PruneFunc{pruner.Prune}})
		for i, age := range []time.Duration{80 * time.Hour, 30 * time.Hour, 0} {
			r := record(i)
			r.CreatedAt = noon.Add(-age)
			log.Append(r)
		}
		for _, want := range []string{"2 1 0", "2"} {
			if err := st.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(59 * time.Minute)
			synctest.Wait()
			if got := activitytest.IDs(activitytest.Query(t, log, activity.Filter{Tenant: "default"}).Records); got != want {
				t.Errorf("after %v: %q, want %q", time.Since(began), got, want)
			}
		}
	})
}
