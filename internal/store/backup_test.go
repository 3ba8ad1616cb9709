package store_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// A backup has what was submitted before it, is private, opens as a database, and leaves nothing.
func TestABackupOpensAsADatabase(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	st := open(t, dir, store.Options{})
	submit(t, st, note("before"))
	if err := os.WriteFile(filepath.Join(dir, "gatehouse.db-backup"), []byte("of a killed process"), 0o600); err != nil {
		t.Fatal(err)
	}
	copied, remove, err := store.Backup(context.Background(), st)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, st, note("after"))
	if info, err := copied.Stat(); err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v %v", info, err)
	}
	raw, err := os.ReadFile(copied.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, store.FileName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, open(t, other, store.Options{})); got != "before" {
		t.Errorf("the copy has %q", got)
	}
	remove()
	if _, err := os.Stat(filepath.Join(dir, "gatehouse.db-backup")); !os.IsNotExist(err) {
		t.Errorf("the copy is still there: %v", err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Backup(context.Background(), st); err == nil {
		t.Error("a closed store was copied")
	}
}
