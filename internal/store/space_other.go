//go:build !linux && !darwin

package store

// freeSpace is not known here.
func freeSpace(string) (n uint64, ok bool) { return 0, false }
