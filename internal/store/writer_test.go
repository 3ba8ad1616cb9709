package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

func TestRejectedOperationIsLeftOutAlone(t *testing.T) {
	st, rejected := openLogged(t, store.Options{CommitInterval: time.Hour})
	half := op{apply: func(tx *store.Tx) error {
		if _, err := tx.Exec("INSERT INTO notes (text) VALUES ('half')"); err != nil {
			return err
		}
		return errors.New("second thoughts")
	}}
	submit(t, st, note("a"), note("a"), half, note("b"))
	flush(t, st)
	if got := texts(t, st); got != "a b" || rejected() != 2 {
		t.Errorf("kept %q, rejected %d", got, rejected())
	}
	if err := st.Health(); err != nil {
		t.Errorf("health: %v", err)
	}
}

// disk is full while its flag is set: SQLite itself then refuses to grow the file.
type disk struct{ full atomic.Bool }

func (d *disk) note(text string) op {
	return op{apply: func(tx *store.Tx) error {
		limit := 1 << 30
		if d.full.Load() {
			limit = 1 // SQLite takes the present size instead
		}
		var n int
		if err := tx.Get(fmt.Sprintf("PRAGMA max_page_count = %d", limit), nil, &n); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT INTO notes (text) VALUES (?)", text+" "+strings.Repeat(".", 20_000))
		return err
	}}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		core, logged := observer.New(zapcore.InfoLevel)
		var commits, failures int
		st := open(t, dir, store.Options{
			QueueBytes: 3, Logger: zap.New(core),
			Committed: func(time.Duration) { commits++ }, Failed: func(error) { failures++ },
		})
		d.full.Store(true)
		submit(t, st, d.note("a"), note("b"))
		err := st.Flush(context.Background())
		if err == nil || !strings.Contains(err.Error(), "full") {
			t.Fatalf("flush on a full disk: %v", err)
		}
		if s := st.Status(); st.Health() == nil || !errors.Is(s.Err, st.Health()) || s.Blocked || s.Waiting != 2 || s.WaitingBytes != 2 || s.Since.IsZero() {
			t.Errorf("on a full disk: %v, %+v", st.Health(), s)
		}
		start := time.Now()
		submit(t, st, note("c"))
		dropped := note("dropped")
		dropped.droppable = true
		if err := st.Submit(dropped); !errors.Is(err, store.ErrDropped) {
			t.Errorf("got %v", err)
		}
		submit(t, st, note("d")) // may not be dropped
		if d := time.Since(start); d != 0 {
			t.Errorf("a disk known to fail held calls up for %v", d)
		}
		time.Sleep(5 * time.Second) // several attempts
		d.full.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := strings.Fields(texts(t, st)); len(got) != 5 || got[0]+got[2]+got[3]+got[4] != "abcd" {
			t.Errorf("after the disk has space: %.80q", got)
		}
		if lines := turns(logged); !slices.Equal(lines, []bool{true, false}) || st.Health() != nil || st.Status() != (store.Status{}) {
			t.Errorf("logged %v, %+v", lines, st.Status())
		}
		if commits == 0 || failures < 5 {
			t.Errorf("%d commits and %d failures were counted", commits, failures)
		}
		st.Close()
	})
}

func TestCloseOnAFullDiskReportsWhatIsLost(t *testing.T) {
	var d disk
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Hour})
	d.full.Store(true)
	submit(t, st, d.note("a"), note("b"))
	if err := st.Close(); err == nil || !strings.Contains(err.Error(), "2 operations lost") {
		t.Errorf("got %v", err)
	}
	if err := st.Flush(context.Background()); !errors.Is(err, store.ErrClosed) {
		t.Errorf("flush of what is lost: %v", err)
	}
}

func TestOperationIsTriedAloneBeforeItIsRejected(t *testing.T) {
	st, rejected := openLogged(t, store.Options{})
	var times int
	submit(t, st, op{apply: func(tx *store.Tx) error {
		if times++; times == 1 {
			return fmt.Errorf("reading: %w", errors.ErrUnsupported)
		}
		return nil
	}}, note("a"))
	flush(t, st)
	if got := texts(t, st); got != "a" || rejected() != 0 {
		t.Errorf("kept %q, rejected %d", got, rejected())
	}
}

func TestPruningRunsInBatchesBetweenCommits(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var st *store.Store
		var batches int
		prune := func(tx *store.Tx) (bool, error) {
			batches++
			res, err := tx.Exec("DELETE FROM notes WHERE n IN (SELECT n FROM notes ORDER BY n LIMIT 2)")
			if err != nil {
				return false, err
			}
			n, err := res.RowsAffected()
			return n == 2, err
		}
		failing := func(tx *store.Tx) (bool, error) {
			_, err := tx.Exec("DELETE FROM notes")
			return true, errors.Join(err, errors.New("no"))
		}
		st = open(t, dir, store.Options{PruneInterval: time.Minute, Prune: []store.PruneFunc{failing, prune}})
		for i := range 5 {
			submit(t, st, note(fmt.Sprint(i)))
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if got := texts(t, st); got != "0 1 2 3 4" {
			t.Errorf("before the interval: %q", got)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := texts(t, st); got != "" || batches != 3 {
			t.Errorf("left %q after %d batches", got, batches)
		}
		st.Close()
	})
}

// A disk that does not answer while the writer prunes keeps commits from beginning.
func TestAWriterThatBeginsNoCommitIsSeen(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		st := open(t, dir, store.Options{PruneInterval: time.Minute, Prune: []store.PruneFunc{func(*store.Tx) (bool, error) {
			<-proceed
			return false, nil
		}}})
		time.Sleep(time.Minute)
		synctest.Wait()
		submit(t, st, note("a"))
		time.Sleep(2 * time.Second)
		if s := st.Status(); s.Err == nil || !s.Blocked || s.Waiting != 1 || st.Health() != nil {
			t.Errorf("%+v, health %v", s, st.Health())
		}
		close(proceed)
		flush(t, st)
		synctest.Wait()
		if s := st.Status(); s != (store.Status{}) {
			t.Errorf("afterwards: %+v", s)
		}
		st.Close()
	})
}

func TestManyStatementsAreNotAllKept(t *testing.T) {
	st, rejected := openLogged(t, store.Options{})
	submit(t, st, op{apply: func(tx *store.Tx) error {
		for i := range 300 {
			var got int
			if _, err := tx.Exec(fmt.Sprintf("INSERT INTO notes (text) VALUES (%d)", i)); err != nil {
				return err
			}
			if err := tx.Get(fmt.Sprintf("SELECT count(*) + %d - %d FROM notes", i, i), nil, &got); err != nil || got != i+1 {
				return fmt.Errorf("got %d, %v", got, err)
			}
		}
		return nil
	}})
	flush(t, st)
	if n := len(strings.Fields(texts(t, st))); n != 300 || rejected() != 0 {
		t.Errorf("%d written, %d rejected", n, rejected())
	}
}

func BenchmarkCommit(b *testing.B) {
	st := open(b, b.TempDir(), store.Options{})
	o := op{apply: func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT INTO notes (n, text) SELECT ifnull(max(n), 0) + 1, ifnull(max(n), 0) + 1 FROM notes")
		return err
	}}
	const group = 5000
	for b.Loop() {
		for range group {
			submit(b, st, o)
		}
		flush(b, st) // inside the loop: its time is what is measured
	}
	b.ReportMetric(float64(b.N*group)/b.Elapsed().Seconds(), "rows/s")
}
