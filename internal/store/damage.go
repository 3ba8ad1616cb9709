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
	"time"

	"go.uber.org/zap"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// DefaultCheckTimeout keeps a start below the 90 s after which systemd gives up.
	DefaultCheckTimeout = 30 * time.Second
	// slowCheck is from when on a check explains in the log why the start takes long.
	slowCheck = time.Second
	// maxFindings bounds what an error repeats of a damaged file.
	maxFindings = 3
	// maxLockText bounds what is read back from a lock file that anybody may have written.
	maxLockText = 64

	advice = "restore it from a backup, or move it and its -wal and -shm files away to start with an empty one; " +
		"docs/production.md says what is lost then"
)

// takeLock writes this process into the lock file and returns what its last holder left there.
func takeLock(lock *os.File) (left string, err error) {
	text := make([]byte, maxLockText)
	n, _ := lock.ReadAt(text, 0) // an unreadable one is as good as an unclean stop
	return strings.TrimSpace(string(text[:n])), writeLock(lock, strconv.Itoa(os.Getpid()))
}

func writeLock(lock *os.File, text string) error {
	if err := lock.Truncate(0); err != nil {
		return err
	}
	_, err := lock.WriteAt([]byte(text+"\n"), 0)
	return err
}

// closedMark is what the lock file says after a clean stop: the file as it was closed. A file that
// was changed or exchanged since does not fit it.
func closedMark(info fs.FileInfo) string {
	return fmt.Sprintf("closed %d %d", info.Size(), info.ModTime().UnixNano())
}

// suspect reports whether the database has to be checked: it was not closed by a clean stop, or is
// not as it was then. It warns of a database that was there before and is gone.
func (s *Store) suspect(left string) bool {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		if left != "" {
			s.opts.Logger.Warn("the database is missing though its folder was used before; it begins empty, and so do all budgets", zap.String("file", s.path))
		}
		return false
	}
	if err != nil {
		return true
	}
	wal, walErr := os.Stat(filepath.Join(s.files.dir, walFileName))
	return closedMark(info) != left || walErr == nil && wal.Size() > 0
}

// quickCheck reads all pages and returns what is wrong with them: half a second for a million rows of
// activity in the system's cache, else what the disk takes. After Options.CheckTimeout it warns and
// gives up.
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
		s.opts.Logger.Info("the database was not stopped cleanly; it was checked and is whole", zap.String("file", s.path), took)
	}
	return nil
}

// tree is how SQLite names the table or the index of a finding: by its first page.
var tree = regexp.MustCompile(`\b[Tt]ree (\d+)\b`)

// damaged are the tables of findings.
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

// texts are the rows of a query that has one text a row.
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

// Explain adds to an error of the database, if it means a damaged file, which one it is and what to do.
func (s *Store) Explain(err error) error {
	if explained := explain(err); explained != err {
		return fmt.Errorf("the database %q: %w", s.path, explained)
	}
	return err
}

// explain says what to do about a file that SQLite cannot read.
func explain(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
			return fmt.Errorf("it is damaged or not a database; %s: %w", advice, err)
		}
	}
	return err
}
