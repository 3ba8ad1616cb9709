package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// checkInterval is how long a lost file may go unnoticed while nothing is written.
const checkInterval = time.Second

// lostSuffix is appended to the name of a file whose database no longer exists.
const lostSuffix = ".lost"

// errReplaced means that one of the store's files is not the one that it opened.
var errReplaced = errors.New("it was removed or replaced while in use")

const (
	adviceMain = "put the same file back; or, to use another one, stop the gateway, move " + walFileName + " and " +
		shmFileName + " away, put the file in place, and start"
	adviceAdded = "put the same file back, or restart the gateway: what was committed is kept"
)

// files are the files that the store has open, as they were when it opened them. SQLite goes on
// writing to a file that was removed, and all of that is lost when the process ends.
type files struct {
	dir    string
	mu     sync.Mutex // guards the following: readers check too
	opened map[string]watchedFile
}

// watchedFile is a file as it was when the store opened it.
type watchedFile struct {
	path string
	info fs.FileInfo
}

// watchedNames are the files of the data directory, in the order in which they are checked.
var watchedNames = []string{FileName, walFileName, shmFileName, redoNames[0], redoNames[1], LockFileName}

// remember records the current file of each name. A file that does not exist, or that the system
// cannot identify, is not watched.
func (f *files) remember(names ...string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opened == nil {
		f.opened = make(map[string]watchedFile)
	}
	for _, name := range names {
		path := filepath.Join(f.dir, name)
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			delete(f.opened, name)
			continue
		case err != nil:
			return err
		}
		if f.opened[name] = (watchedFile{path, info}); !os.SameFile(info, info) { // Windows reads the file's identity only now
			delete(f.opened, name)
		}
	}
	return nil
}

// forget stops watching files.
func (f *files) forget(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		delete(f.opened, name)
	}
}

// check returns an error that wraps errReplaced and says what to do if a file is not the opened
// one. Without names it looks at all.
func (f *files) check(names ...string) error {
	if len(names) == 0 {
		names = watchedNames
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range names {
		opened, ok := f.opened[name]
		if !ok {
			continue
		}
		path := opened.path
		same, err := opened.inPlace()
		switch {
		case same:
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("looking at %q: %w", path, err)
		case name == FileName:
			return fmt.Errorf("%q: %w; %s", path, errReplaced, adviceMain)
		default:
			return fmt.Errorf("%q: %w; %s", path, errReplaced, adviceAdded)
		}
	}
	return nil
}

// setAside renames the files that SQLite added to a database that was replaced: the next start
// would apply them to the new database. It returns the new names. All connections must be closed.
func (f *files) setAside() (names []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.another(FileName) {
		return nil, nil
	}
	for _, name := range []string{walFileName, shmFileName, redoNames[0], redoNames[1]} {
		if f.another(name) {
			continue // belongs to the other database
		}
		path := filepath.Join(f.dir, name)
		switch e := os.Rename(path, path+lostSuffix); {
		case e == nil:
			names = append(names, path+lostSuffix)
		case !errors.Is(e, fs.ErrNotExist):
			err = errors.Join(err, e)
		}
	}
	return names, err
}

// another reports whether a file of this name exists that is not the opened one. It must be called
// with mu held.
func (f *files) another(name string) bool {
	opened, ok := f.opened[name]
	if !ok {
		return false
	}
	same, err := opened.inPlace()
	return err == nil && !same
}

// readConnector opens connections to the database as long as its files are the opened ones. A
// connection to a replaced database would read it with the log of the old one.
type readConnector struct {
	files  *files
	driver driver.Driver
	dsn    string
}

func (c *readConnector) Connect(context.Context) (driver.Conn, error) {
	if err := c.files.check(); err != nil {
		return nil, err
	}
	return c.driver.Open(c.dsn)
}

func (c *readConnector) Driver() driver.Driver { return c.driver }
