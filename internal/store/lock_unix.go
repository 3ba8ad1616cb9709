//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// lockDir locks the data directory for this process until the returned file is closed. A crash
// closes it too: flock ends with the open file, so a stale lock file has no effect. Two stores of
// one process exclude each other as well.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, LockFileName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the data directory %q: %w", dir, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder := ""
		text := make([]byte, maxLockText)
		if n, _ := f.ReadAt(text, 0); n > 0 {
			if pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n]))); err == nil {
				holder = fmt.Sprintf(" (process %d)", pid)
			}
		}
		f.Close()
		return nil, fmt.Errorf("the data directory %q is in use by another gatehouse%s: %w", dir, holder, ErrLocked)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking the data directory %q: %w", dir, err)
	}
	return f, nil
}
