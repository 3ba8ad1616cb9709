package sqlite_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
	"github.com/gatehouse-proxy/gatehouse/internal/websession/sqlite"
)

var (
	life = websession.Life{Idle: time.Hour, Max: 12 * time.Hour}
	ops  = websession.Session{Tenant: "default", Key: "ops", KeyHash: "11"}
)

func create(t *testing.T, p process, x websession.Session) string {
	t.Helper()
	id, err := p.Create(t.Context(), x, life)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func find(t *testing.T, p process, id string) (websession.Session, bool) {
	t.Helper()
	x, ok, err := p.Find(t.Context(), id, life)
	if err != nil {
		t.Fatal(err)
	}
	return x, ok
}

func lives(t *testing.T, p process, id string) bool {
	t.Helper()
	_, ok := find(t, p, id)
	return ok
}

// process is one that keeps sessions in a folder.
type process struct {
	*websession.Memory
	disk *store.Store
}

func start(t *testing.T, dir string, now func() time.Time) process {
	t.Helper()
	disk, err := store.Open(dir, store.Options{Schemas: []store.Schema{sqlite.Schema}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	m := websession.NewMemory(now)
	if err := m.Open(t.Context(), sqlite.NewTable(disk)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = disk.Close() })
	return process{m, disk}
}

func (p process) stop(t *testing.T) {
	t.Helper()
	if err := p.disk.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestARestartSignsNobodyOutWhoWasSignedIn(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	clock := func() time.Time { return now }
	first := start(t, dir, clock)
	want := websession.Session{Tenant: "lab", Key: "idp-1", KeyHash: "11", Grant: "one"}
	stays, out, idle, retained := create(t, first, want), create(t, first, ops), create(t, first, ops), create(t, first, websession.Session{Tenant: "lab", Key: "gone"})
	if err := first.Delete(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	first.Retain(func(s websession.Session) bool { return s.Key != "gone" })
	now = now.Add(50 * time.Minute)
	if want.Grant = "two"; !lives(t, first, stays) || first.Update(t.Context(), stays, want) != nil {
		t.Fatal("the session before the restart")
	}
	first.stop(t)

	now = now.Add(30 * time.Minute)
	second := start(t, dir, clock)
	if n := second.Len(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	for what, id := range map[string]string{"signed out": out, "not used for too long": idle, "whose key is gone": retained} {
		if lives(t, second, id) {
			t.Errorf("one that was %s is back", what)
		}
	}
	got, ok := find(t, second, stays)
	if started := now.Add(-80 * time.Minute); !ok || got.Started.Sub(started).Abs() > time.Millisecond {
		t.Errorf("%+v, %v", got, ok)
	}
	if got.Started, got.Used = want.Started, want.Used; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// What a browser has opens nothing in the file.
	second.stop(t)
	for _, name := range []string{store.FileName, store.FileName + "-wal"} {
		if text, err := os.ReadFile(dir + "/" + name); err == nil && strings.Contains(string(text), stays) {
			t.Errorf("%s has the ID of a session", name)
		}
	}
	now = now.Add(11 * time.Hour)
	if third := start(t, dir, clock); third.Len() != 0 || lives(t, third, stays) {
		t.Error("a restart makes it longer")
	}
}

// A sign-out is on the disk when it is answered.
func TestASignOutOutlivesAKill(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, time.Now)
	id := create(t, p, ops)
	if err := p.disk.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for rows, err := range store.Rows(t.Context(), p.disk, "SELECT hash FROM console_session") {
		if err != nil {
			t.Fatal(err)
		}
		var hash string
		_ = rows.Scan(&hash)
		t.Errorf("the row of %q", hash)
	}
}
