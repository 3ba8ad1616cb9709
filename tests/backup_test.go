package tests

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This is docs/operations.md, "Backup and restore": a backup while calls go on, and a restore of it.
func TestABackupIsRestored(t *testing.T) {
	h := vacant(t)
	h.writeCatalog()
	admin := "unix//" + h.dir + "/admin"
	config := setup{keys: limitedKey("budget 1usd/month\nrate 100/h"), options: "catalog DIR/prices.json", global: "admin " + admin}
	c := h.run(config)
	spend := func() string {
		t.Helper()
		a := h.post(chatV1, "full", `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`)
		if a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return a.header.Get("X-Request-Id")
	}
	before := spend()
	file := filepath.Join(h.dir, "backup.db")
	other := filepath.Join(h.dir, "other")
	if err := errors.Join(os.WriteFile(other, []byte("not ours"), 0o600), os.Symlink(other, file+".partial")); err != nil {
		t.Fatal(err)
	}
	out, failure, err := c.operate("backup", file, "--address", admin)
	if err != nil || !strings.HasPrefix(out, file+": ") || !strings.Contains(out, " KiB in ") {
		t.Fatalf("%v %s%s", err, out, failure)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if raw, err := os.ReadFile(other); err != nil || string(raw) != "not ours" {
		t.Errorf("a link in the folder led to another file: %q, %v", raw, err)
	}
	if _, failure, err := c.operate("backup", file, "--address", admin); err == nil || !strings.Contains(failure, "exists; give the name of a new file") {
		t.Errorf("a file was written over: %v %s", err, failure)
	}
	after := spend()
	_ = c.cmd.Process.Kill()
	_ = c.wait()

	data, aside := filepath.Join(h.dir, "data"), filepath.Join(h.dir, "aside")
	if err := os.Mkdir(aside, 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(data, "gatehouse.db*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		if err := os.Rename(file, filepath.Join(aside, filepath.Base(file))); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(data, "gatehouse.db"), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c = h.run(config)
	if out, _, err := c.operate("budget", "--address", admin); err != nil || !strings.Contains(out, "1usd/month  0.000501 ") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, failure, err := c.operate("why", before, "--address", admin); err != nil {
		t.Errorf("a call before the backup: %v %s", err, failure)
	}
	if _, _, err := c.operate("why", after, "--address", admin); err == nil {
		t.Error("a call after the backup is known")
	}
	spend()
}
