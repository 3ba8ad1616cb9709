package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// diskEnv tells a copy of this test binary that it may mount file systems.
const diskEnv = "STORE_TEST_MOUNTS"

// onDisk runs a test in a process of its own, as a user who is not root and for whom permissions
// count, with a file system of a size in bytes. Both end with the process. Where the system lets
// nobody mount, the test does nothing.
func onDisk(t *testing.T, size int, test func(dir string)) {
	t.Helper()
	if os.Getenv(diskEnv) != "" {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
			t.Fatal("mounting: ", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		test(dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), diskEnv+"=1")
	const user, capSysAdmin = 1000, 21
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{capSysAdmin},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case bytes.Contains(out, []byte("mounting: ")), cmd.ProcessState == nil && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC)):
		t.Log("nothing was tested: no process may mount here")
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

// fill takes all space that is left.
func fill(t *testing.T, dir string) (empty func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFullDiskWhileRunning(t *testing.T) {
	onDisk(t, 4<<20, func(dir string) {
		core, logged := observer.New(zapcore.InfoLevel)
		st := openEntries(t, dir, store.Options{Logger: zap.New(core)})
		durable(t, st, "before")
		flush(t, st)
		empty := fill(t, dir)
		want := []string{"before"}
		for i := 0; st.Status().Err == nil && i < 1000; i++ { // until what SQLite had allocated is used up
			text := fmt.Sprint(i, strings.Repeat(".", 8000))
			want = append(want, text)
			buffered(t, st, text)
			_ = st.Flush(context.Background()) // Status shows whether it failed
		}
		s := st.Status()
		if s.Err == nil || s.Blocked || s.Waiting == 0 || !strings.Contains(s.Err.Error(), "disk is full") || st.Health() == nil {
			t.Errorf("%+v, health %v", s, st.Health())
		}
		if err := st.SubmitDurable(context.Background(), entry("refused"), time.Minute); err == nil {
			want = append(want, "refused") // there was space for its record
		} else if want = append(want, "refused"); !strings.Contains(err.Error(), "full") {
			t.Errorf("what must be durable: %v", err)
		}
		var n int
		if err := st.Reader().QueryRow("SELECT count(*) FROM notes").Scan(&n); err != nil || n == 0 {
			t.Errorf("reading: %d rows, %v", n, err)
		}
		empty()
		waitUntil(t, "all is committed", func() bool { return st.Status() == store.Status{} })
		if got := texts(t, st); got != strings.Join(want, " ") {
			t.Errorf("kept %d bytes, want %d", len(got), len(strings.Join(want, " ")))
		}
		durable(t, st, "after")
		if lines := turns(logged); len(lines) < 2 || !lines[0] || lines[len(lines)-1] {
			t.Errorf("logged %v", lines)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A backup that the disk cannot hold is refused before it takes the space that calls need.
func TestABackupThatDoesNotFitIsRefused(t *testing.T) {
	onDisk(t, 24<<20, func(dir string) {
		failed := 0
		st := openEntries(t, dir, store.Options{Failed: func(error) { failed++ }})
		if _, remove, err := store.Backup(context.Background(), st); err != nil {
			t.Fatal(err)
		} else {
			remove()
		}
		for i := range 100 {
			buffered(t, st, fmt.Sprint(i, strings.Repeat(".", 40_000)))
		}
		flush(t, st)
		_, _, err := store.Backup(context.Background(), st)
		if err == nil || !strings.Contains(err.Error(), "MiB left") {
			t.Errorf("the backup: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "gatehouse.db-backup")); !os.IsNotExist(err) {
			t.Errorf("the copy is there: %v", err)
		}
		durable(t, st, "after")
		flush(t, st)
		if failed > 0 || st.Status() != (store.Status{}) {
			t.Errorf("%d writes failed, %+v", failed, st.Status())
		}
	})
}

func TestAFullDiskAtTheStart(t *testing.T) {
	onDisk(t, 4<<20, func(dir string) {
		st := idle(t, dir)
		durable(t, st, "a")
		crash := killed(t, dir) // on another disk
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(crash)); err != nil {
			t.Fatal(err)
		}
		empty := fill(t, dir)
		_, err := store.Open(filepath.Join(dir, "data"), store.Options{Schemas: []store.Schema{entries}})
		if err == nil || !strings.Contains(err.Error(), "disk is full") && !strings.Contains(err.Error(), "no space left") {
			t.Errorf("opening: %v", err)
		}
		_, err = store.Open(filepath.Join(dir, "new"), store.Options{Schemas: []store.Schema{entries}})
		if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "new")) {
			t.Errorf("opening a new one: %v", err)
		}
		empty()
		want(t, "with space", after(t, filepath.Join(dir, "data")), "a")
	})
}

// A directory that becomes read-only takes no new file: those that are open go on.
func TestADirectoryThatBecomesReadOnly(t *testing.T) {
	onDisk(t, 16<<20, func(dir string) {
		st := openEntries(t, dir, store.Options{})
		durable(t, st, "a")
		chmod(t, dir, 0o500)
		durable(t, st, "b")
		flush(t, st)
		for i := range 3 {
			durable(t, st, fmt.Sprint(i, strings.Repeat(".", 900_000))) // both files of the redo log, and checkpoints
		}
		flush(t, st)
		if s := st.Status(); s != (store.Status{}) {
			t.Errorf("%+v", s)
		}
		if err := st.Close(); err == nil || !strings.Contains(err.Error(), store.RedoNames[0]) {
			t.Errorf("closing, which removes files: %v", err)
		}
		chmod(t, dir, 0o700)
		if got := after(t, dir); !strings.HasPrefix(got, "a b 0") {
			t.Errorf("kept %.20q", got)
		}
	})
}

// What cannot be written at the start names the path, the user, and what to do.
func TestFilesThatCannotBeWrittenAtTheStart(t *testing.T) {
	onDisk(t, 16<<20, func(dir string) {
		for name, change := range map[string]func(data string){
			"directory":     func(data string) { chmod(t, data, 0o500) },
			"parent":        func(data string) { must(t, os.RemoveAll(data)); chmod(t, filepath.Dir(data), 0o500) },
			"not traversed": func(data string) { chmod(t, data, 0) },
			"database":      func(data string) { chmod(t, filepath.Join(data, store.FileName), 0o400) },
			"lock":          func(data string) { chmod(t, filepath.Join(data, store.LockFileName), 0o400) },
			"redo log":      func(data string) { write(t, filepath.Join(data, store.RedoNames[0]), 0) },
			"write-ahead log": func(data string) {
				write(t, filepath.Join(data, store.FileName+"-wal"), 0)
			},
			"read-only mount": func(data string) {
				must(t, syscall.Mount(data, data, "", syscall.MS_BIND, ""))
				must(t, syscall.Mount("", data, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			},
			"a file": func(data string) { must(t, os.RemoveAll(data)); write(t, data, 0o600) },
		} {
			data := filepath.Join(dir, name, "data")
			openEntries(t, data, store.Options{}).Close()
			change(data)
			st, err := store.Open(data, store.Options{Schemas: []store.Schema{entries}})
			if err == nil {
				t.Errorf("%s: it opens", name)
				st.Close()
				continue
			}
			for _, part := range []string{data, "user that runs Caddy"} {
				if !strings.Contains(err.Error(), part) && name != "a file" {
					t.Errorf("%s: %v, want it with %q", name, err, part)
				}
			}
			chmod(t, filepath.Dir(data), 0o700)
		}
	})
}

func chmod(t *testing.T, path string, mode os.FileMode) { t.Helper(); must(t, os.Chmod(path, mode)) }
func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(path, []byte("x"), 0o600))
	chmod(t, path, mode)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
