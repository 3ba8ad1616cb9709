package gateway

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
)

func newStores(dir string) *stores {
	return &stores{dir: dir, closed: make(chan struct{})}
}

func (s *stores) mustOpen(t *testing.T) Stores {
	t.Helper()
	opened, err := s.open(t.Context(), opening{logger: zap.NewNop()}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func (s *stores) mustClose(t *testing.T) {
	t.Helper()
	if err := s.close(); err != nil {
		t.Error(err)
	}
	select {
	case <-s.closed:
	default:
		t.Error("closed is open")
	}
}

func TestTheStoresAreOpenedOnce(t *testing.T) {
	s := newStores(t.TempDir())
	first := s.mustOpen(t)
	if first.Log == nil || first.Owners == nil || first.Rates == nil || first.Ledger == nil {
		t.Fatalf("a table is missing: %+v", first)
	}
	if s.mustOpen(t) != first {
		t.Error("the second generation has other tables than the first")
	}
	if n := s.dropped(); n != 0 {
		t.Errorf("%d rows dropped", n)
	}
	s.mustClose(t)
	s.mustClose(t)
}

func TestStoresThatWereNeverOpenedMakeNoFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := newStores(dir)
	if n := s.dropped(); n != 0 {
		t.Errorf("%d rows dropped", n)
	}
	s.mustClose(t)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the data directory: %v", err)
	}
}

func TestStoresThatAnotherProcessHasCanBeOpenedLater(t *testing.T) {
	dir := t.TempDir()
	other, s := newStores(dir), newStores(dir)
	other.mustOpen(t)
	if _, err := s.open(t.Context(), opening{logger: zap.NewNop()}, time.Now); err == nil {
		t.Fatal("a directory was opened twice")
	}
	other.mustClose(t)
	s.mustOpen(t)
	s.mustClose(t)
}
