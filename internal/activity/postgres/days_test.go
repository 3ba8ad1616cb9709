package postgres_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestRowsOfAWildClockAreKept(t *testing.T) {
	n := newNode(t, enginetest.Postgres(t), "a")
	for i, at := range []time.Time{time.Unix(0, 0), noon.AddDate(-1, 0, 0), noon.AddDate(1, 0, 0), noon} {
		r := activitytest.Call(i)
		r.CreatedAt = at
		n.Append(r)
	}
	flush(t, n)
	got := activitytest.All(t, n, activity.Filter{AllTenants: true})
	if s := n.writer.Status(); len(got) != 4 || s.Refused > 0 {
		t.Fatalf("%d rows, %+v", len(got), s)
	}
	if first, last := got[3].CreatedAt, got[0].CreatedAt; first.Before(noon.AddDate(0, 0, -6)) || last.After(noon.AddDate(0, 0, 8)) {
		t.Errorf("from %v to %v", first, last)
	}
	days, err := n.Daily(t.Context(), activity.Filter{AllTenants: true})
	sum := int64(0)
	for _, d := range days {
		sum += d.Requests
	}
	if err != nil || sum != 4 {
		t.Errorf("%d calls in the sums, %v", sum, err)
	}
}

func TestRetentionDropsDaysUnderLoad(t *testing.T) {
	dsn := enginetest.Postgres(t)
	var mu sync.Mutex
	now := noon
	at := func(c *postgresactivity.Config) {
		c.Keep = activity.Retention{Age: 48 * time.Hour, Series: 10 * 24 * time.Hour}
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return now
		}
	}
	a, b := newNode(t, dsn, "a", at), newNode(t, dsn, "b", at)
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		r := rand.New(rand.NewPCG(4, 4))
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- n
				return
			default:
			}
			a.Append(activitytest.Random(r, n))
			if n%500 == 0 {
				if _, err := a.Query(context.Background(), activity.Filter{AllTenants: true, Code: "none"}); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	days := func() (first, until int64) {
		if err := a.db.Pool().QueryRow(t.Context(), "SELECT first, until FROM activity_partitions").Scan(&first, &until); err != nil {
			t.Fatal(err)
		}
		return first, until
	}
	for day := range 3 {
		mu.Lock()
		now = now.AddDate(0, 0, 1)
		mu.Unlock()
		if _, err := a.db.Pool().Exec(t.Context(), "UPDATE activity_partitions SET busy = now()"); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		for _, n := range []*node{a, b} {
			both.Go(func() {
				if err := postgresactivity.Maintain(t.Context(), n.Log); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		first, until := days()
		if today := noon.Unix()/86400 + int64(day) + 1; first != today-2 || until != today+8 {
			t.Errorf("day %d: partitions of days %d to %d", today, first, until)
		}
	}
	close(stop)
	n := <-done
	flush(t, a)
	if s := a.writer.Status(); s.Refused > 0 || s.Dropped > 0 {
		t.Errorf("the status is %+v", s)
	}
	if got := activitytest.Series(t, a, "by=key&step=day&from=2026-05-01&to=2026-05-09").All.Total.Requests; got != int64(n) {
		t.Errorf("the sums have %d calls of %d", got, n)
	}
	if got := len(activitytest.All(t, a, activity.Filter{AllTenants: true, To: noon.AddDate(0, 0, -3)})); got != 0 {
		t.Errorf("%d old rows", got)
	}
	var tables int
	if err := a.db.Pool().QueryRow(t.Context(), "SELECT count(*) FROM pg_class WHERE relname ~ '^activity_d[0-9]+$'").Scan(&tables); err != nil || tables != 10 {
		t.Errorf("%d tables of days, %v", tables, err)
	}
}

func TestRetentionBySizeDropsTheOldestDays(t *testing.T) {
	n := newNode(t, enginetest.Postgres(t), "a")
	var records []*activity.Record
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 4000 {
		records = append(records, activitytest.Random(r, i))
		n.Append(records[i])
	}
	flush(t, n)
	if size, err := postgresactivity.Size(t.Context(), n.Log); err != nil || size <= 1<<20 {
		t.Errorf("the rows have %d bytes, %v", size, err)
	}
	n.Retain(activity.Retention{Age: 5 * 24 * time.Hour, Size: 1 << 20})
	if _, err := n.db.Pool().Exec(t.Context(), "UPDATE activity_partitions SET busy = now()"); err != nil {
		t.Fatal(err)
	}
	if err := postgresactivity.Maintain(t.Context(), n.Log); err != nil {
		t.Fatal(err)
	}
	left := activitytest.All(t, n, activity.Filter{AllTenants: true})
	if len(left) == 0 || len(left) > 2500 || left[len(left)-1].CreatedAt.Before(noon.AddDate(0, 0, -2).Truncate(24*time.Hour)) {
		t.Errorf("%d rows are left", len(left))
	}
	activitytest.WantSums(t, n, records)
	if rows, err := n.Rebuild(t.Context()); err != nil || rows != len(left) {
		t.Errorf("rebuilt from %d rows, %v", rows, err)
	}
	activitytest.WantSums(t, n, records)
}

func TestManyDaysAreDroppedOnlyAfterAnHour(t *testing.T) {
	now := noon
	n := newNode(t, enginetest.Postgres(t), "a", func(c *postgresactivity.Config) { c.Now = func() time.Time { return now } })
	n.Append(activitytest.Call(0))
	flush(t, n)
	now = now.AddDate(0, 0, 60)
	for _, rows := range []int{1, 0} {
		if _, err := n.db.Pool().Exec(t.Context(), "UPDATE activity_partitions SET busy = now()"); err != nil {
			t.Fatal(err)
		}
		if err := postgresactivity.Maintain(t.Context(), n.Log); err != nil {
			t.Fatal(err)
		}
		if got := activitytest.All(t, n, activity.Filter{AllTenants: true}); len(got) != rows {
			t.Errorf("at %v there are %d rows, want %d", now, len(got), rows)
		}
		now = now.Add(time.Hour)
		n.PassTime(time.Hour)
	}
}
