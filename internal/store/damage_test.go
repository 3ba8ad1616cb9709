package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// many writes enough notes to fill many pages, and stops cleanly.
func many(t *testing.T, dir string) {
	t.Helper()
	st := open(t, dir, store.Options{})
	for i := range 2000 {
		submit(t, st, note(fmt.Sprintf("%d %s", i, strings.Repeat("x", 100))))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// damagePages overwrites pages in the middle of the file, and leaves its size and times as they
// were.
func damagePages(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, store.FileName)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(raw) / 3 &^ 4095; i < len(raw)/2; i++ {
		raw[i] = 0xa5
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

func TestDamageIsFoundAfterAStopThatWasNotClean(t *testing.T) {
	for name, unclean := range map[string]func(t *testing.T, dir string) error{
		"killed": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, store.LockFileName), []byte("4711\n"), 0o600)
		},
		"no lock file": func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, store.LockFileName)) },
		"a log is left": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, store.FileName+"-wal"), make([]byte, 32), 0o600)
		},
		"restored": func(_ *testing.T, dir string) error {
			return os.Chtimes(filepath.Join(dir, store.FileName), time.Time{}, time.Unix(1, 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			many(t, dir)
			damagePages(t, dir)
			if err := unclean(t, dir); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a failed start is not a clean stop
				_, err := store.Open(dir, store.Options{Schemas: []store.Schema{notes}})
				for _, want := range []string{filepath.Join(dir, store.FileName), "damaged in the table notes", "restore it from a backup", "docs/database.md"} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Fatalf("no %q in %v", want, err)
					}
				}
			}
		})
	}
}

func TestAfterACleanStopNothingIsChecked(t *testing.T) {
	dir := t.TempDir()
	many(t, dir)
	damagePages(t, dir)
	st := open(t, dir, store.Options{})
	_, err := st.Reader().Exec("SELECT count(text) FROM notes NOT INDEXED")
	if err = st.Explain(err); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "restore it from a backup") {
		t.Errorf("reading a damaged page: %v", err)
	}
}

func TestACheckThatTakesTooLongIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	many(t, dir)
	if err := os.Remove(filepath.Join(dir, store.LockFileName)); err != nil {
		t.Fatal(err)
	}
	core, seen := observer.New(zapcore.WarnLevel)
	st := open(t, dir, store.Options{CheckTimeout: time.Nanosecond, Logger: zap.New(core)})
	if n := len(strings.Fields(texts(t, st))); n != 4000 {
		t.Errorf("%d words", n)
	}
	if logs := seen.FilterMessageSnippet("too large to be checked").All(); len(logs) != 1 {
		t.Errorf("logged %v", seen.All())
	}
}

func TestMissingDatabaseIsReportedAtTheStart(t *testing.T) {
	dir := t.TempDir()
	core, seen := observer.New(zapcore.WarnLevel)
	for i := range 2 {
		if err := open(t, dir, store.Options{Logger: zap.New(core)}).Close(); err != nil {
			t.Fatal(err)
		}
		if n := seen.FilterMessageSnippet("is missing").Len(); n != i {
			t.Errorf("start %d: %v", i, seen.All())
		}
		if err := os.Remove(filepath.Join(dir, store.FileName)); err != nil {
			t.Fatal(err)
		}
	}
}
