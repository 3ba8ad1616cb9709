// Package store keeps Gatehouse's one database: the file gatehouse.db in a data directory. One
// goroutine writes it in groups; any number of readers read it meanwhile.
//
//	st, err := store.Open(dir, store.Options{
//		Schemas: []store.Schema{sqliteactivity.Schema, sqliteowners.Schema},
//		Prune:   []store.PruneFunc{pruner.Prune},
//	})
//	err = st.Submit(op)      // queued; committed within CommitInterval
//	err = st.Flush(ctx)      // everything submitted before is now committed
//	err = st.SubmitDurable(ctx, op, time.Second) // queued, and safe from a kill -9
//	for rows, err := range store.Rows(ctx, st, query, args...) { … }
//
// The packages that keep data here (activity, owners, limits) own their tables and pass a [Schema].
// The store knows none of them: it only runs their [Op]s.
//
// # Durability
//
// The store uses SQLite in WAL mode with synchronous=NORMAL. A killed process loses at most what
// was submitted within the last CommitInterval, and nothing for which SubmitDurable returned nil:
// that is in the redo log until it is committed, and applied by the next Open. A power failure may
// lose the commits since the last checkpoint, but never damages the file.
//
// # Limits
//
// One process at a time can use a data directory; gatehouse.lock is its lock. Several machines
// would need another database.
package store

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
)

// File names inside the data directory. SQLite adds the last two while the store is open; the store
// adds redoNames.
const (
	FileName     = "gatehouse.db"
	LockFileName = "gatehouse.lock"
	walFileName  = FileName + "-wal"
	shmFileName  = FileName + "-shm"
)

const (
	// DefaultCommitInterval bounds what a kill -9 loses, and how late a row is visible without
	// Flush.
	DefaultCommitInterval = queue.Interval
	// DefaultPruneInterval is a compromise: retention is counted in days, but a disk fills in
	// minutes.
	DefaultPruneInterval = time.Minute
	// DefaultQueueBytes is enough for 40,000 calls with budgets: the disk may stop for seconds
	// under full load.
	DefaultQueueBytes = 64 << 20

	// maxReaders bounds concurrent queries; each may hold a few MiB of page cache.
	maxReaders = 4
	// walSizeLimit is the size to which the write-ahead log is cut after a burst or a long reader
	// has let it grow.
	walSizeLimit = 64 << 20
)

// busyTimeout is longer than a backup or an operator's sqlite3 shell usually holds the write lock. It
// is less in a test.
var busyTimeout = 5 * time.Second

// ErrClosed is returned by every method after Close.
var ErrClosed = errors.New("the store is closed")

// Options configures Open. The zero value works.
type Options struct {
	// Schemas are the tables, migrated by Open in this order.
	Schemas []Schema
	// Prune is run by the writer every PruneInterval, in batches, each in its own transaction.
	Prune []PruneFunc
	// PruneInterval defaults to DefaultPruneInterval.
	PruneInterval time.Duration
	// CommitInterval is how long the first operation of a group waits for others. Default:
	// DefaultCommitInterval.
	CommitInterval time.Duration
	// QueueBytes bounds the memory of waiting operations. Above it droppable operations are
	// delayed, then dropped. The others may use half as much again. Default: DefaultQueueBytes.
	QueueBytes int
	// CheckTimeout bounds the check of a database that was not stopped cleanly. The unchecked rest
	// is trusted. Default: DefaultCheckTimeout.
	CheckTimeout time.Duration
	// Committed, if set, is called after each commit, or attempt, with its time. It must not wait.
	Committed func(time.Duration)
	// Failed, if set, is called for each attempt to write that failed, of a commit or of the redo
	// log, with the cause. While commits fail there is one attempt a second. It may be called from
	// several goroutines, and must return at once.
	Failed func(error)
	// Logger defaults to none.
	Logger *zap.Logger
}

// PruneFunc deletes one small batch of expired rows and reports whether more are left. It is then
// called again, after operations that wait meanwhile. It must not commit.
type PruneFunc func(tx *Tx) (more bool, err error)

// Store is an open database. Its methods may be called from any goroutine.
type Store struct {
	opts    Options
	path    string
	lock    *os.File
	files   files
	writeDB *sql.DB
	readDB  *sql.DB
	tx      Tx // of the writer goroutine

	queue   *queue.Queue[Op]
	commits commits
	log     *redoLog // nil: no schema needs it

	stop  chan struct{}
	done  chan struct{}
	lost  error // which operations were lost; written before done is closed
	close func() error
}

// Open creates the data directory (0700) and the database (0600) if they are missing, locks the
// directory, migrates and starts the writer. It fails if another process holds the directory, if
// the file is damaged or not ours, and if a newer version wrote it. After an unclean stop, or if
// the file has changed since, Open checks the whole file for damage.
func Open(dir string, opts Options) (_ *Store, err error) {
	defer func() { err = explainFile(err) }()
	if opts.CommitInterval <= 0 {
		opts.CommitInterval = DefaultCommitInterval
	}
	if opts.PruneInterval <= 0 {
		opts.PruneInterval = DefaultPruneInterval
	}
	if opts.QueueBytes <= 0 {
		opts.QueueBytes = DefaultQueueBytes
	}
	if opts.CheckTimeout <= 0 {
		opts.CheckTimeout = DefaultCheckTimeout
	}
	if opts.Logger == nil {
		opts.Logger = zap.NewNop()
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("resolving the data directory %q: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data directory %q: %w", dir, err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{
		opts: opts,
		path: filepath.Join(dir, FileName),
		lock: lock, files: files{dir: dir}, queue: queue.New[Op](),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	s.close = sync.OnceValue(s.closeOnce)
	left, err := takeLock(lock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking the data directory %q: %w", dir, err), lock.Close())
	}
	if err := s.openFile(s.suspect(left)); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the database %q: %w", s.path, err), s.closeFiles(false))
	}
	go s.write()
	return s, nil
}

func (s *Store) openFile(suspect bool) error {
	// SQLite would create the file by the umask. Its WAL files take the mode of this one.
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(0o600), f.Close())
	if err != nil {
		return err
	}
	common := []string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"foreign_keys(off)",
	}
	s.writeDB, err = sql.Open("sqlite", dsn(s.path, "rw", append(common,
		"journal_mode(wal)", "synchronous(normal)", fmt.Sprintf("journal_size_limit(%d)", walSizeLimit))))
	if err != nil {
		return err
	}
	s.writeDB.SetMaxOpenConns(1)
	if err := s.tx.connect(s.writeDB); err != nil {
		return explain(err)
	}
	if suspect {
		if err := s.quickCheck(); err != nil {
			return explain(err)
		}
	}
	if err := migrate(&s.tx, append([]Schema{redoSchema}, s.opts.Schemas...)); err != nil {
		return explain(err)
	}
	s.readDB = sql.OpenDB(&readConnector{files: &s.files, driver: s.writeDB.Driver(), dsn: dsn(s.path, "ro", append(common, "query_only(on)"))})
	s.readDB.SetMaxOpenConns(maxReaders)
	s.readDB.SetMaxIdleConns(maxReaders)
	if err := s.files.remember(FileName, walFileName, shmFileName, LockFileName); err != nil {
		return err
	}
	return s.openRedo()
}

// openRedo starts the redo log if a schema needs it, with what the last process left in it applied.
func (s *Store) openRedo() error {
	decode, err := redoOf(s.opts.Schemas)
	if err != nil || decode == nil {
		return err
	}
	if s.log, err = (&writer{Store: s}).redo(decode); err != nil {
		return err
	}
	s.log.start()
	return s.files.remember(redoNames[:]...)
}

// dsn returns path as a file: URI, so that no character of a directory's name is read as an option.
// Neither mode creates the file: a removed one must not come back empty. A connection with mode
// "ro" does not write the log into the file when it is closed.
func dsn(path, mode string, pragmas []string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"_pragma": pragmas, "mode": {mode}}.Encode()}
	return u.String()
}

// Reader is a pool of read-only connections. They see committed rows; call Flush first to see your
// own writes.
func (s *Store) Reader() *sql.DB { return s.readDB }

// Close commits what was submitted, closes the database and unlocks the directory. Its error says
// how many operations could not be written.
func (s *Store) Close() error { return s.close() }

func (s *Store) closeOnce() error {
	s.queue.Close()
	close(s.stop)
	<-s.done
	whole := s.lost == nil && s.Health() == nil && s.files.check() == nil
	if err := errors.Join(s.lost, s.closeFiles(whole)); err != nil {
		return fmt.Errorf("closing the database %q: %w", s.path, err)
	}
	return nil
}

// closeFiles closes the files, and records a clean stop in the lock file if the database is whole.
// The log of a database that was replaced must not be applied to the new one.
func (s *Store) closeFiles(whole bool) error {
	var errs []error
	if s.log != nil {
		errs = append(errs, s.log.close()) // setAside may rename its files, which Windows refuses while they are open
	}
	if s.readDB != nil {
		errs = append(errs, s.readDB.Close())
	}
	if s.writeDB != nil {
		s.tx.disconnect()
		errs = append(errs, s.writeDB.Close())
		lost, err := s.files.setAside()
		errs = append(errs, err)
		if len(lost) > 0 {
			s.opts.Logger.Warn("the database was replaced while in use; the files of the old one were renamed, so that the next start ignores them",
				zap.String("file", s.path), zap.Strings("renamed", lost))
		}
	}
	if s.log != nil && whole { // it has nothing that is not committed
		errs = append(errs, removeRedo(s.files.dir))
	}
	if whole && errors.Join(errs...) == nil {
		info, err := os.Stat(s.path)
		if err == nil {
			err = writeLock(s.lock, closedMark(info))
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, s.lock.Close())...)
}
