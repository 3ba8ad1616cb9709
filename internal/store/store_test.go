package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// notes is a small schema: a list of texts.
var notes = store.Schema{Name: "notes", Steps: []string{"CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)"}}

// op is an operation made of a function.
type op struct {
	apply     func(*store.Tx) error
	droppable bool
	size      int // bytes; 0 counts 1
}

func (o op) Apply(tx *store.Tx) error { return o.apply(tx) }
func (o op) Droppable() bool          { return o.droppable }
func (o op) Size() int                { return max(o.size, 1) }

func note(text string) op {
	return op{apply: func(tx *store.Tx) error {
		_, err := tx.Exec("INSERT INTO notes (text) VALUES (?)", text)
		return err
	}}
}

func open(t testing.TB, dir string, opts store.Options) *store.Store {
	t.Helper()
	if opts.Schemas == nil {
		opts.Schemas = []store.Schema{notes}
	}
	st, err := store.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// openLogged returns with the store a function that counts the operations rejected until then.
func openLogged(t testing.TB, opts store.Options) (st *store.Store, rejected func() int) {
	core, seen := observer.New(zapcore.ErrorLevel)
	opts.Logger = zap.New(core)
	return open(t, t.TempDir(), opts), func() int { return seen.FilterMessage("operation rejected by the database").Len() }
}

func submit(t testing.TB, st *store.Store, ops ...op) {
	t.Helper()
	for _, o := range ops {
		if err := st.Submit(o); err != nil {
			t.Fatal(err)
		}
	}
}

// texts returns the notes in the order they were written, as a reader sees them now.
func texts(t testing.TB, st *store.Store) string {
	t.Helper()
	rows, err := st.Reader().Query("SELECT text FROM notes ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func flush(t testing.TB, st *store.Store) {
	t.Helper()
	if err := st.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	st := open(t, dir, store.Options{})
	submit(t, st, note("x"))
	flush(t, st)
	for name, want := range map[string]os.FileMode{
		"": os.ModeDir | 0o700, store.FileName: 0o600, store.FileName + "-wal": 0o600, store.FileName + "-shm": 0o600, store.LockFileName: 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%q has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestDirectoryNameIsNoOption(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%20c#d&e=f")
	if runtime.GOOS != "windows" {
		dir += "?mode=memory"
	}
	st := open(t, dir, store.Options{})
	submit(t, st, note("x"))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, open(t, dir, store.Options{})); got != "x" {
		t.Errorf("after reopening: %q", got)
	}
}

func TestCloseWritesWhatWaits(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{CommitInterval: 1 << 40})
	submit(t, st, note("a"), note("b"))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := st.Submit(note("c")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("submitting after close: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, store.FileName+"-wal")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the write-ahead log is left behind: %v", err)
	}
	if got := texts(t, open(t, dir, store.Options{})); got != "a b" {
		t.Errorf("after reopening: %q", got)
	}
}

func TestSecondStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{})
	_, err := store.Open(dir, store.Options{})
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("%q", dir)) {
		t.Errorf("got %v", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, store.Options{})
}

func TestUnusableFilesAreRefused(t *testing.T) {
	damage := func(t *testing.T, dir string, change func([]byte) []byte) {
		if err := open(t, dir, store.Options{}).Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, store.FileName)
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, want string
		make       func(t *testing.T, dir string)
	}{
		{"text", "damaged or not a database", func(t *testing.T, dir string) {
			text := strings.Repeat("not a database\n", 1000)
			if err := os.WriteFile(filepath.Join(dir, store.FileName), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		{"damaged first page", "damaged or not a database", func(t *testing.T, dir string) {
			damage(t, dir, func(raw []byte) []byte {
				for i := 100; i < 4096; i++ {
					raw[i] = 0xff
				}
				return raw
			})
		}},
		{"another program's", "belongs to another program", func(t *testing.T, dir string) {
			damage(t, dir, func(raw []byte) []byte { copy(raw[68:], "mine"); return raw }) // application_id
		}},
		{"newer layout", "written by a newer version", func(t *testing.T, dir string) {
			damage(t, dir, func(raw []byte) []byte { raw[63] = 9; return raw }) // user_version
		}},
		{"newer schema", "written by a newer version", func(t *testing.T, dir string) {
			newer := store.Schema{Name: "notes", Steps: append(notes.Steps[:1:1], "SELECT 1")}
			open(t, dir, store.Options{Schemas: []store.Schema{newer}}).Close()
		}},
		{"directory", "opening the database", func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, store.FileName), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(t, dir)
			_, err := store.Open(dir, store.Options{Schemas: []store.Schema{notes}})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", filepath.Join(dir, store.FileName))) {
				t.Errorf("got %v, want %q and the file's name", err, tt.want)
			}
			if _, err := store.Open(dir, store.Options{}); errors.Is(err, store.ErrLocked) {
				t.Error("the directory stays locked after a failed Open")
			}
		})
	}
}

func TestMigration(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{})
	submit(t, st, note("old"))
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	broken := store.Schema{Name: "notes", Steps: append(notes.Steps[:1:1], "INSERT INTO notes (text) VALUES ('half'); SELECT nonsense")}
	if _, err := store.Open(dir, store.Options{Schemas: []store.Schema{broken}}); err == nil || !strings.Contains(err.Error(), `"notes": step 2`) {
		t.Fatalf("a broken step: %v", err)
	}
	good := store.Schema{Name: "notes", Steps: append(notes.Steps[:1:1], "INSERT INTO notes (text) VALUES ('new')")}
	other := store.Schema{Name: "other", Steps: []string{"CREATE TABLE other (n INTEGER)"}}
	for range 2 { // the second time there is nothing to do
		st = open(t, dir, store.Options{Schemas: []store.Schema{good, other}})
		if got := texts(t, st); got != "old new" {
			t.Errorf("got %q", got)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
