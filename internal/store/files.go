package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// checkInterval is how long a lost file may go unnoticed while nothing is written.
const checkInterval = time.Second

// errReplaced says that one of the store's files is not the one that it opened.
var errReplaced = errors.New("it was removed or replaced while in use")

// files are those that the store holds open, as they were when it opened them. SQLite goes on
// writing to a file that was removed, and all of that is gone with the process.
type files struct {
	dir    string
	opened map[string]fs.FileInfo
}

// remember notes the file of each name as it is now. One that does not exist, or that the system
// cannot tell from others, is not watched.
func (f *files) remember(names ...string) error {
	if f.opened == nil {
		f.opened = make(map[string]fs.FileInfo)
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(f.dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.forget(name)
			continue
		case err != nil:
			return err
		}
		if f.opened[name] = info; !os.SameFile(info, info) { // Windows reads its identity only now
			f.forget(name)
		}
	}
	return nil
}

// forget ends the watch of files.
func (f *files) forget(names ...string) {
	for _, name := range names {
		delete(f.opened, name)
	}
}

// check returns an error that wraps errReplaced and says what to do if a file is not the opened one.
func (f *files) check() error {
	for name, opened := range f.opened {
		path := filepath.Join(f.dir, name)
		now, err := os.Stat(path)
		switch {
		case err == nil && os.SameFile(opened, now):
		case err == nil || errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%q: %w; put it back, or restart with the files that shall be used", path, errReplaced)
		default:
			return fmt.Errorf("looking at %q: %w", path, err)
		}
	}
	return nil
}
