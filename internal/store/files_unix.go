//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"io/fs"
	"syscall"
)

// inPlace reports whether the path still leads to the opened file. It is os.Stat and os.SameFile
// without their allocations: each write to the redo log looks at two files.
func (w *watchedFile) inPlace() (bool, error) {
	var now syscall.Stat_t
	err := syscall.Stat(w.path, &now)
	for err == syscall.EINTR {
		err = syscall.Stat(w.path, &now)
	}
	if err != nil {
		return false, &fs.PathError{Op: "stat", Path: w.path, Err: err}
	}
	opened := w.info.Sys().(*syscall.Stat_t)
	return opened.Dev == now.Dev && opened.Ino == now.Ino, nil
}
