package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// A start that fails halfway has applied whole groups. The next one continues behind them.
func TestAnInterruptedRecoveryContinues(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	hold, release := gate() // full groups are committed at once
	defer release()
	submit(t, st, hold)
	whole := ""
	for i := range 1200 {
		buffered(t, st, fmt.Sprint(i))
		whole = strings.TrimSpace(whole + " " + fmt.Sprint(i))
	}
	durable(t, st, "end")
	crash := killed(t, dir)
	failing := entries
	failing.Redo = func(record []byte) (store.Op, error) {
		if string(record) == "1100" {
			return nil, errors.New("unknown operation")
		}
		return entry(record), nil
	}
	_, err := store.Open(crash, store.Options{Schemas: []store.Schema{failing}})
	for _, part := range []string{"unknown operation", store.RedoNames[0], "move the file away"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want it with %q", err, part)
		}
	}
	want(t, "the next start", after(t, crash), whole+" end")
}

// faultyFile is a file of the redo log that a test breaks.
type faultyFile struct {
	store.RedoFile
	disk *faultyDisk
}

type faultyDisk struct {
	mu    sync.Mutex
	full  bool
	hangs chan struct{}
}

func (d *faultyDisk) set(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

var errNoSpace = errors.New("no space left")

// WriteAt writes half of what does not fit.
func (f faultyFile) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.hangs != nil {
		<-f.disk.hangs
	}
	if f.disk.full {
		n, _ := f.RedoFile.WriteAt(b[:len(b)/2], at)
		return n, errNoSpace
	}
	return f.RedoFile.WriteAt(b, at)
}

// While no record can be written, the commit is what makes an operation durable.
func TestWithoutSpaceForRecordsTheCommitIsForced(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	disk := &faultyDisk{}
	store.ReplaceRedoFiles(st, func(f store.RedoFile) store.RedoFile { return faultyFile{f, disk} })
	for round := range 2 { // with an empty file, and with one in use
		disk.set(true)
		size := int64(0)
		if info, err := os.Stat(redoPath(dir, 0)); err == nil {
			size = info.Size()
		}
		durable(t, st, fmt.Sprint("committed", round))
		if info, err := os.Stat(redoPath(dir, 0)); err != nil || info.Size() != size {
			t.Errorf("%d bytes are left behind, %v", info.Size()-size, err)
		}
		disk.set(false)
		durable(t, st, fmt.Sprint("a", round))
	}
	want(t, "after a kill", after(t, killed(t, dir)), "committed0 a0 committed1 a1")
	flush(t, st)
	want(t, "after a kill behind the commit", after(t, killed(t, dir)), "committed0 a0 committed1 a1")
}

// If the database cannot be written either, the operation is refused, and nothing of it is left in
// the log.
func TestAFullDiskRefusesWhatMustBeDurableAndWorksAgain(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	records := &faultyDisk{}
	store.ReplaceRedoFiles(st, func(f store.RedoFile) store.RedoFile { return faultyFile{f, records} })
	var d disk
	d.full.Store(true)
	records.set(true)
	submit(t, st, d.note("large"))
	if err := st.SubmitDurable(context.Background(), entry("refused"), time.Minute); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("on a full disk: %v", err)
	}
	want(t, "after a kill", after(t, killed(t, dir)), "")
	d.full.Store(false)
	records.set(false)
	durable(t, st, "a")
	want(t, "after a kill with space", after(t, killed(t, dir)), "a")
}

// A record beside a database that is gone would be of no use: the next start ignores it.
func TestNothingIsDurableWithoutTheDatabase(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	for _, name := range []string{store.FileName, store.RedoNames[0]} {
		dir := t.TempDir()
		st := idle(t, dir)
		path := filepath.Join(dir, name)
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		if err := st.SubmitDurable(context.Background(), entry("a"), time.Minute); err == nil || !strings.Contains(err.Error(), path) || st.Health() == nil {
			t.Errorf("without %s: %v, health %v", name, err, st.Health())
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		durable(t, st, "b")
	}
}

func TestADiskThatHangsIsNotWaitedForWithoutEnd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := openEntries(t, dir, store.Options{CommitInterval: time.Minute})
		disk := &faultyDisk{hangs: make(chan struct{})}
		store.ReplaceRedoFiles(st, func(f store.RedoFile) store.RedoFile { return faultyFile{f, disk} })
		for _, wait := range []struct{ ctx, timeout time.Duration }{{time.Second, time.Hour}, {time.Hour, time.Second}} {
			ctx, cancel := context.WithTimeout(t.Context(), wait.ctx)
			began := time.Now()
			if err := st.SubmitDurable(ctx, entry("a"), wait.timeout); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			cancel()
		}
		committed := make(chan error)
		go func() { committed <- st.SubmitDurable(context.Background(), entry("b"), time.Minute) }()
		synctest.Wait()
		flush(t, st)
		if err := <-committed; err != nil { // a commit is as good
			t.Error(err)
		}
		close(disk.hangs)
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOperationsThatCouldNotBeCommittedAreAppliedAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	var d disk
	d.full.Store(true)
	submit(t, st, d.note("gone"))
	durable(t, st, "a")
	if err := st.Close(); err == nil || !strings.Contains(err.Error(), "operations lost") {
		t.Errorf("closing: %v", err)
	}
	want(t, "the next start", after(t, dir), "a")
}

func TestAnOperationThatIsTooLargeForTheRedoLogIsCommitted(t *testing.T) {
	dir := t.TempDir()
	st := idle(t, dir)
	large := strings.Repeat("x", 1<<20)
	buffered(t, st, "first")
	durable(t, st, large)
	if n := store.PendingMemory(st); n > store.RedoBuffer {
		t.Errorf("its %d bytes are kept", n)
	}
	durable(t, st, "a")
	want(t, "after a kill", after(t, killed(t, dir)), "first "+large+" a")
}

func TestOneSchemaCanUseTheRedoLog(t *testing.T) {
	second := store.Schema{Name: "other", Redo: entries.Redo}
	if _, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{entries, second}}); err == nil {
		t.Error("two may")
	}
}

func TestAnOlderLogBesideAClosedDatabaseIsSetAside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced")
	}
	dir := t.TempDir()
	st := idle(t, dir)
	durable(t, st, "a")
	path := filepath.Join(dir, store.FileName)
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err == nil {
		t.Error("nothing is lost")
	}
	if _, err := os.Stat(redoPath(dir, 0) + ".lost"); err != nil {
		t.Errorf("the log of the replaced database is not kept: %v", err)
	}
	want(t, "the new database", after(t, dir), "")
}

// A redo log that alone cannot be written costs each durable operation a commit: an operator sees
// that, and that it is over, although nothing else is written meanwhile.
func TestARedoLogThatCannotBeWrittenIsShown(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		core, logged := observer.New(zapcore.InfoLevel)
		var failures atomic.Int32
		st := openEntries(t, dir, store.Options{Logger: zap.New(core), Failed: func(error) { failures.Add(1) }})
		disk := &faultyDisk{}
		store.ReplaceRedoFiles(st, func(f store.RedoFile) store.RedoFile { return faultyFile{f, disk} })
		disk.set(true)
		durable(t, st, "a")
		durable(t, st, "b")
		began := time.Now()
		time.Sleep(time.Second)
		synctest.Wait()
		if s := st.Status(); !errors.Is(s.RedoErr, errNoSpace) || s.Err != nil || s.RedoSince.After(began) || failures.Load() < 2 {
			t.Errorf("%+v, %d failures", s, failures.Load())
		}
		disk.set(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s := st.Status(); s != (store.Status{}) {
			t.Errorf("with space: %+v", s)
		}
		durable(t, st, "c")
		lines := logged.FilterMessageSnippet("the redo log can").All()
		if len(lines) != 2 || lines[0].Level != zapcore.ErrorLevel || lines[1].Level != zapcore.InfoLevel {
			t.Errorf("logged %v", lines)
		}
		want(t, "after a kill", after(t, killed(t, dir)), "a b c")
		st.Close()
	})
}
