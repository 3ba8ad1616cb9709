package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// entries is notes with a redo log, and without a constraint that would hide what is applied twice.
var entries = store.Schema{
	Name:  "entries",
	Steps: []string{"CREATE TABLE notes (n INTEGER PRIMARY KEY, text TEXT NOT NULL)"},
	Redo:  func(record []byte) (store.Op, error) { return entry(record), nil },
}

// entry is a note that is logged.
type entry string

func (entry) Droppable() bool                { return false }
func (e entry) AppendRecord(b []byte) []byte { return append(b, e...) }
func (e entry) Apply(tx *store.Tx) error     { return note(string(e)).apply(tx) }
func redoPath(dir string, i int) string      { return filepath.Join(dir, store.RedoNames[i]) }
func openEntries(t testing.TB, dir string, opts store.Options) *store.Store {
	t.Helper()
	opts.Schemas = []store.Schema{entries}
	return open(t, dir, opts)
}

// idle is a store that commits only when it must.
func idle(t testing.TB, dir string) *store.Store {
	t.Helper()
	return openEntries(t, dir, store.Options{CommitInterval: 24 * time.Hour})
}

func durable(t testing.TB, st *store.Store, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := st.SubmitDurable(context.Background(), entry(text)); err != nil {
			t.Fatal(err)
		}
	}
}

func buffered(t testing.TB, st *store.Store, text string) {
	t.Helper()
	if err := st.Submit(entry(text)); err != nil {
		t.Fatal(err)
	}
}

// killed returns a copy of the directory: what a kill -9 would leave now.
func killed(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// after returns the notes after a restart in dir, twice: the second start applies nothing again.
func after(t testing.TB, dir string) string {
	t.Helper()
	got := ""
	for i := range 2 {
		st := openEntries(t, dir, store.Options{})
		now := texts(t, st)
		if i > 0 && now != got {
			t.Errorf("after the second restart %q, after the first %q", now, got)
		}
		got = now
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}
	return got
}

func want(t testing.TB, when, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", when, got, want)
	}
}

func TestAKillLosesNothingThatIsDurableAndAppliesNothingTwice(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	buffered(t, st, "a")
	durable(t, st, "b")
	buffered(t, st, "lost")
	want(t, "before the first commit", after(t, killed(t, dir)), "a b")
	flush(t, st)
	want(t, "after the commit", after(t, killed(t, dir)), "a b lost")
	durable(t, st, "c", "d")
	want(t, "between two commits", after(t, killed(t, dir)), "a b lost c d")
	submit(t, st, note("e")) // is not logged
	flush(t, st)
	want(t, "after operations of both kinds", after(t, killed(t, dir)), "a b lost c d e")
	durable(t, st, "f")
	again := killed(t, dir)
	second := idle(t, again) // the process that recovers is killed too
	durable(t, second, "g")
	want(t, "after two kills", after(t, killed(t, again)), "a b lost c d e f g")
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range store.RedoNames {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after a clean stop %s is left: %v", name, err)
		}
	}
	want(t, "after a clean stop", after(t, dir), "a b lost c d e f")
}

func TestConcurrentOperationsAreAllDurable(t *testing.T) {
	dir := t.TempDir()
	st := openEntries(t, dir, store.Options{CommitInterval: time.Millisecond})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				durable(t, st, fmt.Sprintf("%d-%d", i, j))
			}
		})
	}
	wg.Wait()
	got := strings.Fields(after(t, killed(t, dir)))
	seen := map[string]int{}
	for _, text := range got {
		seen[text]++
	}
	if len(got) != 400 || len(seen) != 400 {
		t.Errorf("%d notes, %d different, want 400", len(got), len(seen))
	}
}

// The two files take turns, and both stay small. A copy at any time has everything.
func TestTheRedoLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	text := strings.Repeat("x", store.RedoFileSize/8)
	sizes := func() (sum int64) {
		for i := range store.RedoNames {
			info, err := os.Stat(redoPath(dir, i))
			if err != nil {
				t.Fatal(err)
			}
			sum += info.Size()
		}
		return sum
	}
	whole := ""
	for i := range 40 {
		name := fmt.Sprint("e", i)
		durable(t, st, name+text)
		whole = strings.TrimSpace(whole + " " + name)
		if i%3 == 0 {
			flush(t, st)
		}
		if sum := sizes(); sum > 3*store.RedoFileSize {
			t.Fatalf("%d bytes after %d", sum, i)
		}
		if i%5 == 4 {
			want(t, name, strings.ReplaceAll(after(t, killed(t, dir)), text, ""), whole)
		}
	}
	for i := range 20 { // without a commit nothing may be removed
		durable(t, st, fmt.Sprint("f", i)+text)
		whole += fmt.Sprint(" f", i)
	}
	want(t, "without commits", strings.ReplaceAll(after(t, killed(t, dir)), text, ""), whole)
}

func TestATornEndOfTheRedoLogIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	durable(t, st, "a", "b")
	before, err := os.Stat(redoPath(dir, 0))
	if err != nil {
		t.Fatal(err)
	}
	durable(t, st, "torn")
	raw, err := os.ReadFile(redoPath(dir, 0))
	if err != nil {
		t.Fatal(err)
	}
	for n := before.Size() + 1; n < int64(len(raw)); n++ {
		crash := killed(t, dir)
		if err := os.Truncate(redoPath(crash, 0), n); err != nil {
			t.Fatal(err)
		}
		want(t, fmt.Sprintf("%d bytes", n), after(t, crash), "a b")
	}
	for at := range raw[before.Size():] {
		crash := killed(t, dir)
		damaged := append([]byte(nil), raw...)
		damaged[before.Size()+int64(at)] ^= 0x40
		if err := os.WriteFile(redoPath(crash, 0), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		core, seen := observer.New(zapcore.WarnLevel)
		st := openEntries(t, crash, store.Options{Logger: zap.New(core)})
		want(t, fmt.Sprintf("damaged at %d", at), texts(t, st), "a b")
		if seen.FilterMessageSnippet("redo log was renamed").Len() != 1 {
			t.Errorf("damaged at %d: the log says %v", at, seen.All())
		}
		if kept, err := os.ReadFile(redoPath(crash, 0) + ".lost"); err != nil || string(kept) != string(damaged) {
			t.Errorf("damaged at %d: the file was not kept: %v", at, err)
		}
	}
}

func TestAMissingRedoLogLosesOnlyWhatWasNotCommitted(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	durable(t, st, "a")
	flush(t, st)
	durable(t, st, "b")
	crash := killed(t, dir)
	for i := range store.RedoNames {
		if err := os.Remove(redoPath(crash, i)); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "without its files", after(t, crash), "a")
}

// A backup is the database alone. The log of another run is not applied to it: its operations may
// be in it already.
func TestTheRedoLogOfAnotherRunIsNotApplied(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	durable(t, st, "a")
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	st = idle(t, dir)
	durable(t, st, "b")
	for name, content := range map[string][]byte{"a backup": backup, "no database": nil} {
		crash := killed(t, dir)
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(filepath.Join(crash, store.FileName+suffix)); err != nil {
				t.Fatal(err)
			}
		}
		wanted := ""
		if content != nil {
			wanted = "a"
			if err := os.WriteFile(filepath.Join(crash, store.FileName), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want(t, name, after(t, crash), wanted)
		if _, err := os.Stat(redoPath(crash, 0) + ".lost"); err != nil {
			t.Errorf("%s: the log was not kept: %v", name, err)
		}
	}
}

// A power failure can take the database back to an earlier commit. What is behind it in the log is
// then applied.
func TestALogThatIsNewerThanItsDatabaseIsApplied(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	durable(t, st, "a")
	flush(t, st)
	earlier := killed(t, dir)
	durable(t, st, "b")
	flush(t, st)
	durable(t, st, "c")
	later := killed(t, dir)
	for i := range store.RedoNames {
		if err := os.Rename(redoPath(later, i), redoPath(earlier, i)); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "an earlier database", after(t, earlier), "a b c")
}
