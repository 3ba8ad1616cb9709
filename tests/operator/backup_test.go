package operator

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// This is docs/database.md, "Backup and restore": a backup while calls go on, and a restore of it.
func TestABackupIsRestored(t *testing.T) {
	h := harness.Vacant(t)
	harness.WriteCatalog(h)
	admin := "unix//" + h.Dir + "/admin"
	config := harness.Setup{Keys: harness.FullKey("budget 1usd/month\nrate 100/h"), Options: "catalog DIR/prices.json", Global: "admin " + admin}
	c := h.Run(config)
	spend := func() string {
		t.Helper()
		a := h.Client.Post(harness.ChatV1, "full", `{"model":"fake/usage-all","max_tokens":50,"messages":[{"role":"user","content":"x"}]}`)
		if a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a.Header.Get("X-Request-Id")
	}
	before := spend()
	file := filepath.Join(h.Dir, "backup.db")
	other := filepath.Join(h.Dir, "other")
	if err := errors.Join(os.WriteFile(other, []byte("not ours"), 0o600), os.Symlink(other, file+".partial")); err != nil {
		t.Fatal(err)
	}
	out, failure, err := c.Operate("backup", file, "--address", admin)
	if err != nil || !strings.HasPrefix(out, file+": ") || !strings.Contains(out, " KiB in ") {
		t.Fatalf("%v %s%s", err, out, failure)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if raw, err := os.ReadFile(other); err != nil || string(raw) != "not ours" {
		t.Errorf("a link in the folder led to another file: %q, %v", raw, err)
	}
	if _, failure, err := c.Operate("backup", file, "--address", admin); err == nil || !strings.Contains(failure, "exists; give the name of a new file") {
		t.Errorf("a file was written over: %v %s", err, failure)
	}
	after := spend()
	_ = c.Cmd.Process.Kill()
	_ = c.Wait()

	data, aside := filepath.Join(h.Dir, "data"), filepath.Join(h.Dir, "aside")
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
	c = h.Run(config)
	if out, _, err := c.Operate("budget", "--address", admin); err != nil || !strings.Contains(out, "1usd/month  0.000501 ") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, failure, err := c.Operate("why", before, "--address", admin); err != nil {
		t.Errorf("a call before the backup: %v %s", err, failure)
	}
	if _, _, err := c.Operate("why", after, "--address", admin); err == nil {
		t.Error("a call after the backup is known")
	}
	spend()
}
