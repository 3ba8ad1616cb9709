package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// DefaultCheckTimeout keeps a start below the 90 s after which systemd gives up.
	DefaultCheckTimeout = 30 * time.Second
	// slowCheck is the duration after which the log explains why the start takes long.
	slowCheck = time.Second
	// maxFindings bounds how many findings an error repeats.
	maxFindings = 3
	// maxLockText bounds what is read from a lock file, which anybody may have written.
	maxLockText = 64

	advice = "restore it from a backup, or move it and its -wal and -shm files away to start with an empty one; " +
		"docs/database.md says what is lost then"
)

// takeLock writes this process into the lock file and returns what its last holder wrote there.
func takeLock(lock *os.File) (left string, err error) {
	text := make([]byte, maxLockText)
	n, _ := lock.ReadAt(text, 0) // an unreadable file counts as an unclean stop
	return strings.TrimSpace(string(text[:n])), writeLock(lock, strconv.Itoa(os.Getpid()))
}

func writeLock(lock *os.File, text string) error {
	if err := lock.Truncate(0); err != nil {
		return err
	}
	_, err := lock.WriteAt([]byte(text+"\n"), 0)
	return err
}

// closedMark is the text of the lock file after a clean stop: it identifies the database file as it
// was closed. A file that was changed or replaced since does not match it.
func closedMark(info fs.FileInfo) string {
	return fmt.Sprintf("closed %d %d", info.Size(), info.ModTime().UnixNano())
}

// suspect reports whether the database must be checked: it was not closed cleanly, or has changed
// since. It warns if a database that existed is missing.
func (s *Store) suspect(left string) bool {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		if left != "" {
			s.opts.Logger.Warn("the database is missing although its folder was used before; a new one is created, and all budgets start at zero", zap.String("file", s.path))
		}
		return false
	}
	if err != nil {
		return true
	}
	wal, walErr := os.Stat(filepath.Join(s.files.dir, walFileName))
	return closedMark(info) != left || walErr == nil && wal.Size() > 0
}

// quickCheck reads all pages and returns what is wrong with them. It takes half a second for a
// million rows of activity in the system's cache, else as long as the disk takes. After
// Options.CheckTimeout it warns and stops.
func (s *Store) quickCheck() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(background, s.opts.CheckTimeout)
	defer cancel()
	found, err := s.tx.texts(ctx, fmt.Sprintf("PRAGMA quick_check(%d)", maxFindings))
	took := zap.Duration("took", time.Since(began))
	switch {
	case ctx.Err() != nil:
		s.opts.Logger.Warn("the database was not stopped cleanly, and is too large to be checked in time", zap.String("file", s.path), took)
		return nil
	case err != nil:
		return err
	case !slices.Equal(found, []string{"ok"}):
		return fmt.Errorf("it is damaged in %s; %s (%s)", s.tx.damaged(found), advice, strings.Join(found, "; "))
	case time.Since(began) > slowCheck:
		s.opts.Logger.Info("the database was not stopped cleanly; it was checked and is not damaged", zap.String("file", s.path), took)
	}
	return nil
}

// tree matches SQLite's name of the table or index of a finding: the number of its first page.
var tree = regexp.MustCompile(`\b[Tt]ree (\d+)\b`)

// damaged returns the tables of findings.
func (t *Tx) damaged(found []string) string {
	var tables []string
	for _, text := range found {
		m := tree.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		names, err := t.texts(background, "SELECT tbl_name FROM sqlite_schema WHERE rootpage = "+m[1])
		if err == nil && len(names) == 1 && !slices.Contains(tables, names[0]) {
			tables = append(tables, names[0])
		}
	}
	if len(tables) == 0 {
		return "an unknown place"
	}
	return "the table " + strings.Join(tables, ", ")
}

// texts returns the rows of a query that has one text per row.
func (t *Tx) texts(ctx context.Context, query string) (all []string, err error) {
	rows, err := t.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text.String)
	}
	return all, rows.Err()
}

// Explain adds to a database error that means a damaged file the name of the file and what to do.
func (s *Store) Explain(err error) error {
	if explained := explain(err); explained != err {
		return fmt.Errorf("the database %q: %w", s.path, explained)
	}
	return err
}

// explain adds what to do to an error of SQLite that an operator can act on.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("it is damaged or not a database; %s: %w", advice, err)
	}
	if text := faults[e.Code()&0xff]; text != "" {
		return fmt.Errorf("%s: %w", text, err)
	}
	return err
}

// faults say what an operator can do about a result code of SQLite.
var faults = map[int]string{
	sqlite3.SQLITE_FULL:     "the disk is full; free space, and it goes on without a restart",
	sqlite3.SQLITE_BUSY:     "another process has it locked (a backup, or a sqlite3 shell within a transaction); end that, and it goes on without a restart",
	sqlite3.SQLITE_READONLY: "the file, its folder or the file system cannot be written; give the user that runs Caddy the right to write there",
	sqlite3.SQLITE_CANTOPEN: "the file cannot be opened or created; give the user that runs Caddy the right to write in its folder",
	sqlite3.SQLITE_IOERR:    "the disk reports an error; the system's log says more",
}

// explainFile adds what to do to an error of the system about a file.
func explainFile(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; the user that runs Caddy (uid %d) must be able to write there: change the owner or the mount, or set data_dir to another folder", err, os.Getuid())
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w; free space on that disk, or set data_dir to a folder on another", err)
	}
	return err
}
