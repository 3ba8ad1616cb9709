package postgres_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestPgBouncerMayStandInFront(t *testing.T) {
	n := newNode(t, enginetest.PgBouncer(t, enginetest.Postgres(t)), "a")
	records := together([]*node{n}, 1000)
	flush(t, n)
	activitytest.WantSums(t, n, records)
	if _, ok, err := n.FindAny(t.Context(), "req-7"); !ok || err != nil {
		t.Errorf("a request: %v, %v", ok, err)
	}
	n.Retain(activity.Retention{Age: 24 * time.Hour})
	if _, err := n.db.Pool().Exec(t.Context(), "UPDATE activity_partitions SET busy = now()"); err != nil {
		t.Fatal(err)
	}
	if err := postgresactivity.Maintain(t.Context(), n.Log); err != nil {
		t.Error(err)
	}
	activitytest.WantSums(t, n, records)
}

func TestAQueryOfADatabaseThatIsAwayFailsAtOnce(t *testing.T) {
	server := enginetest.StartPostgres(t)
	n := newNode(t, server.Database(t), "a")
	n.Append(activitytest.Call(0))
	flush(t, n)
	server.Kill()
	if _, err := n.Query(t.Context(), activity.Filter{AllTenants: true}); err == nil {
		t.Error("no error")
	}
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := server.Restart()
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(50 * time.Millisecond)
	}
	n.Append(activitytest.Call(1))
	flush(t, n)
	if got := activitytest.All(t, n, activity.Filter{AllTenants: true}); len(got) != 2 {
		t.Errorf("%d rows", len(got))
	}
}

func TestDaysAreThoseOfTheServersClock(t *testing.T) {
	n := newNode(t, enginetest.Postgres(t), "a", func(c *postgresactivity.Config) { c.Now = nil })
	r := activitytest.Call(0)
	r.CreatedAt = time.Now().UTC()
	n.Append(r)
	flush(t, n)
	got := activitytest.All(t, n, activity.Filter{AllTenants: true})
	if len(got) != 1 || !got[0].CreatedAt.Equal(r.CreatedAt) {
		t.Errorf("%d rows, or at another time", len(got))
	}
}

func TestRowsKeepTheirTimeThoughNobodyHasMadeDaysForLong(t *testing.T) {
	var late atomic.Bool
	now := func() time.Time {
		if late.Load() {
			return noon.AddDate(0, 0, 20)
		}
		return noon
	}
	n := newNode(t, enginetest.Postgres(t), "a", func(c *postgresactivity.Config) { c.Now = now })
	late.Store(true)
	r := activitytest.Call(1)
	r.CreatedAt = now()
	n.Append(r)
	flush(t, n)
	if got := activitytest.All(t, n, activity.Filter{AllTenants: true}); len(got) != 1 || !got[0].CreatedAt.Equal(r.CreatedAt) {
		t.Errorf("%+v", got)
	}
}
