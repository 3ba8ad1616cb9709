package recording

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"filippo.io/age"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// stored makes a recording, and returns the path of its file.
func stored(t *testing.T, s *Store, size int, open bool) string {
	t.Helper()
	var random [8]byte
	_, _ = rand.Read(random[:])
	id := "vnc-" + hex.EncodeToString(random[:])
	w, err := s.Begin(Header{Session: id, Tenant: "acme", Begun: s.now()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.Server(make([]byte, size))
	if open {
		t.Cleanup(func() { _ = w.Close("") })
	} else if err := w.Close(""); err != nil {
		t.Fatal(err)
	}
	return s.path(s.now().UTC().Format(dayLayout), id) + suffix
}

func there(t *testing.T, want bool, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", filepath.Base(path), err, want)
		}
	}
}

func pruned(t *testing.T, s Settings) (*Store, *observer.ObservedLogs) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	s.Dir, s.Recipients = t.TempDir(), []age.Recipient{id.Recipient()}
	core, lines := observer.New(zap.InfoLevel)
	return NewStore(s, func() string { return "" }, zap.New(core), time.Now), lines
}

// A day is deleted when its last recording is too old, and not more than a day in an hour.
func TestDaysAreDeletedByAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lines := pruned(t, Settings{Keep: 24 * time.Hour})
		time.Sleep(time.Hour) // into the day
		first := []string{stored(t, s, 100, false), stored(t, s, 100, false)}
		writing := stored(t, s, 100, true)
		time.Sleep(24 * time.Hour)
		second := stored(t, s, 100, false)
		time.Sleep(22*time.Hour + 50*time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		go s.Run(ctx)
		synctest.Wait()
		there(t, true, append(first, second, writing)...)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		there(t, false, first...)
		there(t, true, second, writing)
		if lines.Len() != 1 || lines.All()[0].ContextMap()["recordings"] != int64(2) || lines.All()[0].ContextMap()["day"] != "2000-01-01" || lines.All()[0].ContextMap()["by"] != "keep" {
			t.Errorf("logged %v", lines.All())
		}
	})
}

func TestTheOldestAreDeletedBySize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lines := pruned(t, Settings{MaxSize: 10_000})
		oldest, writing := stored(t, s, 4000, false), stored(t, s, 4000, true)
		time.Sleep(time.Minute)
		older := stored(t, s, 4000, false)
		time.Sleep(24 * time.Hour)
		newest := stored(t, s, 4000, false)
		s.pruneSize()
		there(t, false, oldest, older)
		there(t, true, writing, newest)
		if lines.Len() != 1 || lines.All()[0].ContextMap()["by"] != "max_size" {
			t.Errorf("logged %v", lines.All())
		}
		if files, _ := filepath.Glob(s.Dir + "/*/*"); strings.Contains(strings.Join(files, " "), filepath.Base(oldest)) {
			t.Errorf("%v are left", files)
		}
	})
}

// A session does not wait for a disk that hangs when it begins. What that does later is closed.
func TestABeginningDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := pruned(t, Settings{})
		answers := make(chan struct{})
		s.create = func(path string) (io.WriteCloser, error) { <-answers; return create(path) }
		h, begun := Header{Session: "vnc-0123456789abcdef", Begun: s.now()}, time.Now()
		if w, err := s.Begin(h, nil); w != nil || err == nil || time.Since(begun) > closeWait {
			t.Errorf("%v, %v after %v", w, err, time.Since(begun))
		}
		close(answers)
		synctest.Wait()
		if e, err := s.Get(h.Session, func(string) bool { return true }); err != nil || e.State == Recording {
			t.Errorf("%+v, %v", e, err)
		}
	})
}
