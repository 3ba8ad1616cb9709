package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// turns returns for each line that says that the database cannot be written true, and for each that
// says that it can again false.
func turns(logged *observer.ObservedLogs) (failing []bool) {
	for _, line := range logged.All() {
		switch {
		case strings.HasPrefix(line.Message, "the database cannot be written") && line.Level == zapcore.ErrorLevel:
			failing = append(failing, true)
		case line.Message == "the database can be written again" && line.Level == zapcore.InfoLevel:
			failing = append(failing, false)
		}
	}
	return failing
}

// wantReplaced flushes and expects an error that names the file and what happened to it.
func wantReplaced(t *testing.T, st *store.Store, path string) {
	t.Helper()
	err := st.Flush(context.Background())
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "removed or replaced") {
		t.Fatalf("after %s was lost: %v", path, err)
	}
	if st.Health() == nil {
		t.Errorf("healthy without %s", path)
	}
}

func TestMissingFileIsNoticedAndNotCreatedAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	for _, name := range []string{store.FileName, store.FileName + "-wal", store.FileName + "-shm", store.RedoNames[0], store.RedoNames[1], store.LockFileName} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			st := idle(t, dir)
			submit(t, st, note("before"))
			flush(t, st)
			path, away := filepath.Join(dir, name), filepath.Join(dir, "away")
			if err := os.Rename(path, away); err != nil {
				t.Fatal(err)
			}
			submit(t, st, note("after"))
			wantReplaced(t, st, path)
			wantReplaced(t, st, path)
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it was created again: %v", err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil { // replaced by another file
				t.Fatal(err)
			}
			wantReplaced(t, st, path)
			if err := os.Rename(away, path); err != nil {
				t.Fatal(err)
			}
			flush(t, st)
			if got := texts(t, st); got != "before after" || st.Health() != nil {
				t.Errorf("put back: %q, %v", got, st.Health())
			}
		})
	}
}

func TestALostFileIsNoticedWhileNothingIsWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		core, logged := observer.New(zapcore.InfoLevel)
		st := open(t, dir, store.Options{Logger: zap.New(core)})
		path, away := filepath.Join(dir, store.FileName), filepath.Join(dir, "away")
		if err := os.Rename(path, away); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if lines := turns(logged); len(lines) != 1 || !lines[0] || st.Health() == nil {
			t.Errorf("logged %v", lines)
		}
		if err := os.Rename(away, path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if lines := turns(logged); len(lines) != 2 || lines[1] || st.Health() != nil {
			t.Errorf("restored: logged %v", lines)
		}
		st.Close()
	})
}

// Everything committed before the write-ahead log was removed is in the database after a clean
// stop.
func TestARemovedLogLosesNothingThatWasCommitted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	dir := t.TempDir()
	st := open(t, dir, store.Options{CommitInterval: time.Hour})
	submit(t, st, note("before"))
	flush(t, st)
	for _, name := range []string{"-wal", "-shm"} {
		if err := os.Remove(filepath.Join(dir, store.FileName+name)); err != nil {
			t.Fatal(err)
		}
	}
	submit(t, st, note("lost"))
	if err := st.Close(); err == nil || !strings.Contains(err.Error(), "1 operations lost") {
		t.Errorf("closing: %v", err)
	}
	if got := texts(t, open(t, dir, store.Options{})); got != "before" {
		t.Errorf("after the restart: %q", got)
	}
}

// Another program may lock the file after it was restored. The connection is then closed as after
// any other failure.
func TestAFailureAfterAFileWasPutBackIsAnOrdinaryOne(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	dir := t.TempDir()
	st := open(t, dir, store.Options{CommitInterval: time.Hour})
	var d disk
	path, away := filepath.Join(dir, store.FileName), filepath.Join(dir, "away")
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	submit(t, st, d.note("a"))
	wantReplaced(t, st, path)
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	d.full.Store(true)
	if err := st.Flush(context.Background()); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("on a full disk: %v", err)
	}
	d.full.Store(false)
	flush(t, st)
}
