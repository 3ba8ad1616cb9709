//go:build linux || darwin

package store

import "syscall"

// freeSpace returns how many bytes the user may still write on the disk of a folder, if that is known.
func freeSpace(dir string) (n uint64, ok bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return fs.Bavail * uint64(fs.Bsize), true
}
