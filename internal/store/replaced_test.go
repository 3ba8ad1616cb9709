package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// A backup that is moved over the running database is unchanged and used after the restart.
func TestDatabaseThatReplacedARunningOneIsNotChanged(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced")
	}
	dir := t.TempDir()
	path, backup := filepath.Join(dir, store.FileName), filepath.Join(dir, "backup.db")
	st := open(t, dir, store.Options{})
	submit(t, st, note("kept"))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(backup, raw, 0o600); err != nil {
		t.Fatal(err)
	}

	core, seen := observer.New(zapcore.WarnLevel)
	st = open(t, dir, store.Options{CommitInterval: time.Hour, Logger: zap.New(core)})
	submit(t, st, note("lost"))
	flush(t, st)
	if err := os.Rename(backup, path); err != nil {
		t.Fatal(err)
	}
	var n int
	err = st.Reader().QueryRow("SELECT count(*) FROM notes").Scan(&n) // on a new connection
	for _, want := range []string{path, "replaced while in use", "stop the gateway", "move gatehouse.db-wal and gatehouse.db-shm away"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("reading: no %q in %v", want, err)
		}
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(raw) {
		t.Errorf("the file in place was changed: %v", err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old log is left beside it: %v", err)
	}
	if info, err := os.Stat(path + "-wal.lost"); err != nil || info.Size() == 0 {
		t.Errorf("the old log was not kept: %v", err)
	}
	if seen.FilterMessageSnippet("was replaced while in use").Len() != 1 {
		t.Errorf("logged %v", seen.All())
	}
	if got := texts(t, open(t, dir, store.Options{})); got != "kept" {
		t.Errorf("after the restart: %q", got)
	}
}

func TestADatabaseThatIsPutBackWhileStoppedLostNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	dir := t.TempDir()
	path, away := filepath.Join(dir, store.FileName), filepath.Join(dir, "away")
	st := open(t, dir, store.Options{CommitInterval: time.Hour})
	submit(t, st, note("before"))
	flush(t, st)
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, open(t, dir, store.Options{})); got != "before" {
		t.Errorf("after the restart: %q", got)
	}
}

// A connection that can checkpoint does so when it is closed, into the file that it opened.
func TestAReaderCannotWriteTheLogIntoTheDatabase(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{})
	submit(t, st, note("a"))
	flush(t, st)
	before, err := os.ReadFile(filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Reader().Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err == nil {
		t.Error("a reader could checkpoint")
	}
	if after, err := os.ReadFile(filepath.Join(dir, store.FileName)); err != nil || string(after) != string(before) {
		t.Errorf("the database was changed: %v", err)
	}
}
