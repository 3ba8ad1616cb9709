package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// errorSharingViolation is ERROR_SHARING_VIOLATION of winerror.h.
const errorSharingViolation = syscall.Errno(32)

// lockDir locks the data directory for this process until the returned file is closed. A crash
// closes it too: the file is opened with a share mode of 0, so nobody else can open it.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, LockFileName)
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the data directory %q: %w", dir, err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errorSharingViolation) {
		return nil, fmt.Errorf("the data directory %q is in use by another gatehouse: %w", dir, ErrLocked)
	}
	if err != nil {
		return nil, fmt.Errorf("locking the data directory %q: %w", dir, err)
	}
	return os.NewFile(uintptr(h), path), nil
}
