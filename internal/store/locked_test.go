package store_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// lockDatabase locks the database as a backup or an operator's sqlite3 shell does.
func lockDatabase(t *testing.T, dir string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := db.Exec("COMMIT"); err != nil {
			t.Error(err)
		}
		db.Close()
	}
}

// waitUntil polls what another process, or the system, does in its own time.
func waitUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(30 * time.Second); !done(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("not within 30 s: ", what)
		}
	}
}

// While another process has the database locked, what must be durable is kept by the redo log, and
// nothing waits for the lock. The lock's end is noticed without a restart.
func TestALockedDatabaseRefusesNothing(t *testing.T) {
	store.SetBusyTimeout(t, 50*time.Millisecond)
	dir := t.TempDir()
	core, logged := observer.New(zapcore.InfoLevel)
	st := openEntries(t, dir, store.Options{CommitInterval: time.Millisecond, QueueBytes: 8000, Logger: zap.New(core)})
	unlock := lockDatabase(t, dir)
	durable(t, st, "a")
	waitUntil(t, "the lock is noticed", func() bool { return st.Status().Err != nil })
	if s := st.Status(); !s.Blocked || st.Health() != nil || s.Waiting != 1 || !strings.Contains(s.Err.Error(), "another process") {
		t.Errorf("%+v, health %v", s, st.Health())
	}
	durable(t, st, "b")
	want(t, "after a kill", after(t, killed(t, dir)), "a b")

	filler := note("full")
	filler.size = 9000
	submit(t, st, filler)
	dropped := note("dropped")
	dropped.droppable = true
	began := time.Now()
	for range 20 {
		if err := st.Submit(dropped); !errors.Is(err, store.ErrDropped) {
			t.Fatal(err)
		}
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("20 calls waited %v for a lock that is known", d)
	}
	unlock()
	waitUntil(t, "all is committed", func() bool { return st.Flush(context.Background()) == nil })
	if got := texts(t, st); got != "a b full" || st.Status() != (store.Status{}) || st.Dropped() != 20 {
		t.Errorf("kept %q, dropped %d, %+v", got, st.Dropped(), st.Status())
	}
	if lines := turns(logged); len(lines) != 2 || !lines[0] || lines[1] {
		t.Errorf("logged %v", lines)
	}
}

// A commit that does not end is seen before it fails.
func TestASlowCommitIsSeen(t *testing.T) {
	dir := t.TempDir()
	st := openEntries(t, dir, store.Options{CommitInterval: time.Millisecond})
	unlock := lockDatabase(t, dir)
	durable(t, st, "a")
	waitUntil(t, "the slow commit is seen", func() bool { return st.Status().Err != nil })
	if s := st.Status(); !s.Blocked || st.Health() != nil || s.Since.IsZero() || !strings.Contains(s.Err.Error(), "does not end") {
		t.Errorf("%+v, health %v", s, st.Health())
	}
	unlock()
	flush(t, st)
	if s := st.Status(); s != (store.Status{}) {
		t.Errorf("%+v", s)
	}
}

// Commits wait for a batch of pruning, which a disk that does not answer never ends.
func TestPruningThatDoesNotEndIsSeen(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuck := func(*store.Tx) (bool, error) { <-release; return false, nil }
		st := open(t, dir, store.Options{PruneInterval: time.Minute, Prune: []store.PruneFunc{stuck}})
		time.Sleep(time.Minute + 2*time.Second)
		submit(t, st, note("a"))
		if s := st.Status(); !s.Blocked || s.Err == nil || !strings.Contains(s.Err.Error(), "does not end") {
			t.Errorf("%+v, health %v", s, st.Health())
		}
		close(release)
		flush(t, st)
		if s := st.Status(); s != (store.Status{}) {
			t.Errorf("%+v", s)
		}
		st.Close()
	})
}

func TestADatabaseThatIsLockedAtTheStartSaysWhatToDo(t *testing.T) {
	store.SetBusyTimeout(t, 50*time.Millisecond)
	dir := t.TempDir()
	open(t, dir, store.Options{}).Close()
	unlock := lockDatabase(t, dir)
	_, err := store.Open(dir, store.Options{Schemas: []store.Schema{notes}})
	if err == nil || !strings.Contains(err.Error(), "another process has it locked") || !strings.Contains(err.Error(), filepath.Join(dir, store.FileName)) {
		t.Errorf("got %v", err)
	}
	unlock()
	open(t, dir, store.Options{})
}
