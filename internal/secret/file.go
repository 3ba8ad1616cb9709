package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// maxFile bounds a secret's file, in bytes.
	maxFile = 64 << 10

	// lookEvery is how often a file is looked at, if its value is asked for that often. A rotated
	// credential must soon be used, and a call must not wait for the disk.
	lookEvery = time.Second

	// A file that changed less than settleTime ago is read again even if its time is the same: some file
	// systems keep times to two seconds.
	settleTime = 2 * time.Second
)

// File is a secret in a file. Once followed, its value changes with the file: a file that is written
// again, renamed over the old one, or behind another symbolic link. It is safe for concurrent use.
type File struct {
	path    string
	valid   func(string) error // of [Text.Check]; nil for none
	current atomic.Pointer[string]
	follow  atomic.Pointer[Follow] // nil: the value does not change
	looked  atomic.Int64           // when the file was looked at, in Unix nanoseconds

	mu       sync.Mutex  // guards the following; held while the file is read
	info     fs.FileInfo // of the last content that was read
	settled  bool        // info was old enough to show the next change
	previous string      // the value before the current one
	failure  string      // of the last look, "" for none
}

// Follow is what following a file needs.
type Follow struct {
	Now    func() time.Time
	Logger *zap.Logger
	// Changed is called before a value is used for the first time, also for that of the start. Gone is
	// the value before the last one, which is not used any more, or "".
	Changed func(gone, value string)
}

func open(path string) (*File, error) {
	f := &File{path: path}
	value, info, err := read(path)
	if err != nil {
		return nil, err
	}
	f.info = info
	f.current.Store(&value)
	return f, nil
}

// Follow reads the file again from now on when it changes. An empty or unreadable file, or a content
// that is not valid, is logged once, and the last value stays.
func (f *File) Follow(follow Follow) {
	follow.Changed("", *f.current.Load())
	f.follow.Store(&follow)
}

// Value returns the content of the file at most about a second ago, without the white space around it.
func (f *File) Value() string {
	if follow := f.follow.Load(); follow != nil {
		f.look(follow)
	}
	return *f.current.Load()
}

func (f *File) look(follow *Follow) {
	now, last := follow.Now(), f.looked.Load()
	if since := now.UnixNano() - last; 0 <= since && since < int64(lookEvery) {
		return
	}
	if !f.mu.TryLock() { // another call does it
		return
	}
	defer f.mu.Unlock()
	f.looked.Store(now.UnixNano())
	err := f.refresh(follow, now)
	if err == nil {
		f.failure = ""
		return
	}
	if err.Error() != f.failure {
		f.failure = err.Error()
		follow.Logger.Warn("the file of a secret has changed and cannot be used; the last content stays in use",
			zap.String("file", f.path), zap.Error(err))
	}
}

// refresh reads the file if it may have changed.
func (f *File) refresh(follow *Follow, now time.Time) error {
	info, err := os.Stat(f.path)
	if err == nil && (!info.Mode().IsRegular() || f.settled && same(info, f.info)) {
		return nil
	}
	value, info, err := read(f.path)
	if err == nil && f.valid != nil {
		err = f.valid(value)
	}
	if err != nil {
		return err
	}
	f.info, f.settled = info, now.Sub(info.ModTime()) > settleTime
	if value == *f.current.Load() {
		return nil
	}
	follow.Changed(f.previous, value)
	f.previous = *f.current.Swap(&value)
	follow.Logger.Info("the file of a secret has changed; its new content is used", zap.String("file", f.path))
	return nil
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// read returns the content of a file, without the white space around it, and what described the file
// before it was read.
func read(path string) (value string, info fs.FileInfo, err error) {
	info, err = os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil, fmt.Errorf("file %s %w", path, ErrUnset)
	}
	if err != nil {
		return "", nil, fmt.Errorf("secret file: %w", err)
	}
	if info.Size() > maxFile {
		return "", nil, fmt.Errorf("secret file %s has more than %d bytes", path, maxFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", nil, fmt.Errorf("secret file: %w", err)
	}
	if value = strings.TrimSpace(string(raw)); value == "" {
		return "", nil, fmt.Errorf("file %s %w", path, ErrUnset)
	}
	return value, info, nil
}
