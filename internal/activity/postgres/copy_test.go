package postgres_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// Days of which rows are deleted keep their sums, also when a day is half deleted.
func TestTheActivityOfOneGatewayIsCopied(t *testing.T) {
	prune := make(chan struct{}, 1)
	pruner := sqliteactivity.NewPruner(func() time.Time { return noon }, activity.Retention{Age: 36 * time.Hour}, zap.NewNop())
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{sqliteactivity.Schema}, PruneInterval: 10 * time.Millisecond, Prune: []store.PruneFunc{func(tx *store.Tx) (bool, error) {
		select {
		case <-prune:
			return pruner.Prune(tx)
		default:
			return false, nil
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	log := sqliteactivity.New(st)
	records := make([]*activity.Record, 0, 1500)
	for i := range cap(records) {
		r := activitytest.Call(i)
		r.CreatedAt = noon.Add(-time.Duration(i) * 200 * time.Second) // three days and a half
		records = append(records, r)
		log.Append(r)
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := func() int { return len(activitytest.All(t, log, activity.Filter{AllTenants: true})) }
	enginetest.Within(t, 20*time.Second, "old rows are deleted", func() bool {
		select {
		case prune <- struct{}{}:
		default:
		}
		return left() < 750
	})
	kept := left()
	n := newNode(t, enginetest.Postgres(t), "a")
	move := func() (copied postgresactivity.Copied, err error) {
		err = pgx.BeginFunc(t.Context(), n.db.Pool(), func(tx pgx.Tx) (err error) {
			copied, err = postgresactivity.CopyTo(t.Context(), tx, st, sha256.New())
			return err
		})
		return copied, err
	}
	copied, err := move()
	if err != nil || copied.Rows != int64(kept) || copied.LeftOut != 0 || copied.Nano != copied.Rows*records[0].CostNano {
		t.Fatalf("%+v of %d, %v", copied, kept, err)
	}
	if _, err := move(); !errors.Is(err, postgresactivity.ErrCopied) {
		t.Errorf("again: %v", err)
	}
	check := func(when string) {
		t.Helper()
		days, err := n.Daily(t.Context(), activity.Filter{AllTenants: true})
		calls := int64(0)
		for _, d := range days {
			calls += d.Requests
		}
		if err != nil || calls != int64(len(records)) {
			t.Errorf("%s: the days have %d calls, %v", when, calls, err)
		}
		for _, step := range []string{"hour", "day"} {
			total := activitytest.Series(t, n, "by=model&from=2026-05-01&to=2026-05-05&step="+step).All.Total
			if total.Requests != int64(len(records)) || total.CostNano != int64(len(records))*records[0].CostNano {
				t.Errorf("%s: by %s: %+v", when, step, total.Sums)
			}
		}
	}
	check("copied")
	if _, err := n.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("rebuilt")
	if r, ok, err := n.Find(t.Context(), "default", "chatcmpl-7"); err != nil || !ok || !r.CreatedAt.Equal(records[7].CreatedAt) || r.Workstation != "desk1" {
		t.Errorf("%+v, %v, %v", r, ok, err)
	}
}
