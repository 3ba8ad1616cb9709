package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
)

// childDir tells a copy of this test binary the data directory of the process that is killed.
const childDir = "ACTIVITY_TEST_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		st, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqlite.Schema}, CommitInterval: time.Millisecond})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		log, r := sqlite.New(st), rand.New(rand.NewPCG(5, 6))
		for n := 0; n < 3000; n++ {
			log.Append(activitytest.Random(r, n))
			if n == 300 {
				_ = st.Flush(context.Background())
				fmt.Println("busy")
			}
		}
		select {} // until it is killed
	}
	m.Run()
}

// A commit has rows and their sums, or neither.
func TestSumsAreThoseOfTheRowsAfterAKill(t *testing.T) {
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if line != "busy\n" {
		t.Fatalf("the process said %q", line)
	}
	_, log := openDir(t, dir, store.Options{Schemas: []store.Schema{sqlite.Schema}})
	records := activitytest.All(t, log, activity.Filter{AllTenants: true})
	if len(records) == 0 {
		t.Fatal("nothing was committed")
	}
	activitytest.WantSums(t, log, records)
}

func openDir(t testing.TB, dir string, opts store.Options) (*store.Store, *sqlite.Log) {
	t.Helper()
	st, err := store.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st, sqlite.New(st)
}

// written appends random records and commits them.
func written(t testing.TB, st *store.Store, log *sqlite.Log, seed uint64, n int) (records []*activity.Record) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, seed))
	for i := range n {
		records = append(records, activitytest.Random(r, i))
		log.Append(records[i])
	}
	if err := st.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	return records
}

// A database from before the roll-up is rolled up in steps, while calls are recorded.
func TestOlderRowsAreRolledUp(t *testing.T) {
	dir := t.TempDir()
	st, log := openDir(t, dir, store.Options{Schemas: []store.Schema{sqlite.Schema}})
	old := written(t, st, log, 7, 1200)
	for _, table := range []string{"activity_hours", "activity_days", "activity_rollup"} {
		execute(t, st, "DROP TABLE "+table)
	}
	execute(t, st, "UPDATE schema_versions SET version = 1 WHERE room = 'activity'")
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		pruner := sqlite.NewPruner(func() time.Time { return noon }, activity.Retention{}, zap.NewNop())
		st, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqlite.Schema}, Prune: []store.PruneFunc{pruner.Prune}, PruneInterval: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		log := sqlite.New(st)
		if activitytest.Series(t, log, "").Complete {
			t.Error("complete before the older rows are added")
		}
		days, err := log.Costs(context.Background(), "acme", "dev")
		if err != nil || len(days) == 0 {
			t.Errorf("meanwhile the days of a key are %v, %v", days, err)
		}
		all := append(old, written(t, st, log, 8, 50)...)
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		activitytest.WantSums(t, log, all)
	})
}

// statement is one of SQL as an operation.
type statement string

func (statement) Droppable() bool { return false }
func (e statement) Apply(tx *store.Tx) error {
	_, err := tx.Exec(string(e))
	return err
}

func execute(t testing.TB, st *store.Store, text string) {
	t.Helper()
	if err := st.Submit(statement(text)); err != nil {
		t.Fatal(err)
	}
	if err := st.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestDeletingRowsKeepsTheirSums(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var later atomic.Int64
		began := time.Now()
		now := func() time.Time { return noon.Add(time.Since(began) + time.Duration(later.Load())) }
		pruner := sqlite.NewPruner(now, activity.Retention{Age: 24 * time.Hour, Series: 60 * 24 * time.Hour}, zap.NewNop())
		st, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqlite.Schema}, Prune: []store.PruneFunc{pruner.Prune}, PruneInterval: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		log := sqlite.New(st)
		records := written(t, st, log, 9, 900)
		wait := func() { time.Sleep(time.Hour + 2*time.Minute); synctest.Wait() } // many days are deleted after an hour
		wait()
		if n := len(activitytest.All(t, log, activity.Filter{AllTenants: true})); n > 400 {
			t.Fatalf("%d rows are left", n)
		}
		activitytest.WantSums(t, log, records)
		if _, err := log.Rebuild(context.Background()); err != nil {
			t.Fatal(err)
		}
		activitytest.WantSums(t, log, records)
		later.Store(int64(59 * 24 * time.Hour)) // two of the four days ended more than 60 days before
		wait()
		if n := len(activitytest.Series(t, log, "from=2026-05-01&to=2026-05-04").All.Points); n != 2 {
			t.Errorf("%d days are left of 4", n)
		}
		later.Store(int64(90 * 24 * time.Hour))
		wait()
		if got := activitytest.Series(t, log, "from=2026-05-01&to=2026-05-04"); got.All.Total.Requests != 0 {
			t.Errorf("the sums of %d calls are kept", got.All.Total.Requests)
		}
	})
}

// A damaged row of sums loses sums until they are rebuilt, but no record.
func TestDamagedSumsLoseNoRecord(t *testing.T) {
	st, log := open(t, store.Options{})
	records := written(t, st, log, 11, 100)
	execute(t, st, "UPDATE activity_hours SET data = x'01ff'")
	execute(t, st, "UPDATE activity_days SET data = x'02'")
	records = append(records, written(t, st, log, 12, 100)...)
	if n := len(activitytest.All(t, log, activity.Filter{AllTenants: true})); n != 200 {
		t.Fatalf("%d records", n)
	}
	if rows, err := log.Rebuild(t.Context()); err != nil || rows != 200 {
		t.Fatalf("rebuilt from %d rows, %v", rows, err)
	}
	activitytest.WantSums(t, log, records)
}

// SQLite merges the rows of some hundred tenants; those of more are sorted.
func TestManyTenantsAreInOneOrder(t *testing.T) {
	st, log := open(t, store.Options{})
	for i := range 450 {
		r := record(i * 7 % 450)
		r.Tenant = fmt.Sprintf("tenant%03d", i)
		log.Append(r)
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := activitytest.All(t, log, activity.Filter{AllTenants: true})
	for i, r := range all {
		if want := fmt.Sprint("gen-", 449-i); r.ID != want {
			t.Fatalf("record %d is %s, want %s", i, r.ID, want)
		}
	}
	if len(all) != 450 {
		t.Errorf("%d records", len(all))
	}
}
