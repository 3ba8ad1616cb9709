package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// gate returns an operation that blocks the writer, and the function that unblocks it.
func gate() (op, func()) {
	c := make(chan struct{})
	return op{apply: func(*store.Tx) error { <-c; return nil }}, func() { close(c) }
}

func TestGroupIsCommittedAfterTheInterval(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{CommitInterval: 50 * time.Millisecond})
		submit(t, st, note("a"))
		time.Sleep(20 * time.Millisecond)
		submit(t, st, note("b"))
		time.Sleep(29 * time.Millisecond)
		synctest.Wait()
		if got := texts(t, st); got != "" {
			t.Errorf("committed early: %q", got)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got := texts(t, st); got != "a b" {
			t.Errorf("after the interval: %q", got)
		}
		st.Close()
	})
}

func TestFullGroupIsCommittedAtOnce(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{CommitInterval: time.Hour})
		for i := range 500 {
			submit(t, st, note(fmt.Sprint(i)))
		}
		synctest.Wait()
		if n := len(strings.Fields(texts(t, st))); n != 500 {
			t.Errorf("%d committed", n)
		}
		st.Close()
	})
}

func TestFlushMakesOwnWritesVisible(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{CommitInterval: time.Hour})
	flush(t, st) // nothing waits
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				text := fmt.Sprintf("%d-%d", i, j)
				submit(t, st, note(text))
				flush(t, st)
				var n int
				if err := st.Reader().QueryRow("SELECT count(*) FROM notes WHERE text = ?", text).Scan(&n); err != nil || n != 1 {
					t.Errorf("%s after its flush: %d, %v", text, n, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestFlushEndsWithItsContext(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	hold, release := gate()
	submit(t, st, hold)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := st.Flush(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	release()
	flush(t, st)
}

func TestFullQueueDelaysThenDrops(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{QueueBytes: 2})
		hold, release := gate()
		submit(t, st, hold, note("a"))
		start := time.Now()
		droppable := note("dropped")
		droppable.droppable = true
		if err := st.Submit(droppable); !errors.Is(err, store.ErrDropped) {
			t.Errorf("a droppable operation: %v", err)
		}
		if d := time.Since(start); d != 100*time.Millisecond {
			t.Errorf("delayed by %v", d)
		}
		start = time.Now()
		if err := st.Submit(note("kept")); err != nil {
			t.Errorf("a durable operation: %v", err)
		}
		if d := time.Since(start); d != 100*time.Millisecond {
			t.Errorf("a durable operation delayed by %v", d)
		}
		release()
		flush(t, st)
		if got := texts(t, st); got != "a kept" || st.Dropped() != 1 {
			t.Errorf("kept %q, dropped %d", got, st.Dropped())
		}
		st.Close()
	})
}

func TestFullQueueTakesOperationsWhenItHasSpaceAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{QueueBytes: 1})
		hold, release := gate()
		submit(t, st, hold)
		time.AfterFunc(30*time.Millisecond, release)
		start := time.Now()
		late := note("late")
		late.droppable = true
		submit(t, st, late)
		if d := time.Since(start); d != 30*time.Millisecond {
			t.Errorf("delayed by %v", d)
		}
		flush(t, st)
		if got := texts(t, st); got != "late" {
			t.Errorf("got %q", got)
		}
		st.Close()
	})
}

func TestCloseEndsWaitingSubmits(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{QueueBytes: 1})
		hold, release := gate()
		submit(t, st, hold)
		late := make(chan error)
		go func() { late <- st.Submit(note("late")) }()
		synctest.Wait()
		go st.Close()
		if err := <-late; !errors.Is(err, store.ErrClosed) {
			t.Errorf("got %v", err)
		}
		release()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheQueueIsBoundedByBytes(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		core, seen := observer.New(zapcore.InfoLevel)
		st := open(t, dir, store.Options{QueueBytes: 1000, Logger: zap.New(core)})
		hold, release := gate()
		submit(t, st, hold)
		kept, dropped, durable, full := 0, 0, 0, 0
		for i := range 100 {
			row := note(fmt.Sprint("row ", i))
			row.droppable, row.size = true, 100
			switch err := st.Submit(row); {
			case err == nil:
				kept++
			case errors.Is(err, store.ErrDropped):
				dropped++
			}
		}
		for i := range 100 {
			row := note(fmt.Sprint("durable ", i))
			row.size = 100
			switch err := st.Submit(row); {
			case err == nil:
				durable++
			case errors.Is(err, store.ErrFull):
				full++
			}
		}
		if kept != 10 || dropped != 90 || durable != 5 || full != 95 {
			t.Errorf("%d rows kept and %d dropped, %d others kept and %d refused", kept, dropped, durable, full)
		}
		release()
		flush(t, st)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		row := note("later")
		row.droppable = true
		submit(t, st, row)
		flush(t, st)
		if n := len(strings.Fields(texts(t, st))); n != 2*(kept+durable)+1 {
			t.Errorf("%d words are written", n)
		}
		begin, end := seen.FilterMessageSnippet("records are dropped").All(), seen.FilterMessageSnippet("no longer dropped").All()
		if len(begin) != 1 || len(end) != 1 || end[0].ContextMap()["dropped"] != uint64(90) {
			t.Errorf("the log says %v, %v", begin, end)
		}
		st.Close()
	})
}

func TestCloseLogsWhatWasDropped(t *testing.T) {
	core, seen := observer.New(zapcore.InfoLevel)
	st := open(t, t.TempDir(), store.Options{QueueBytes: 1, Logger: zap.New(core)})
	hold, release := gate()
	submit(t, st, hold)
	row := note("dropped")
	row.droppable = true
	if err := st.Submit(row); !errors.Is(err, store.ErrDropped) {
		t.Errorf("got %v", err)
	}
	release()
	st.Close()
	if end := seen.FilterMessageSnippet("no longer dropped").All(); len(end) != 1 || end[0].ContextMap()["dropped"] != uint64(1) {
		t.Errorf("the log says %v", seen.All())
	}
}
