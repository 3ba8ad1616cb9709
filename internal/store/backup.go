package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// backupFileName is the copy that Backup makes, in the data directory: only there is the store known
// to have a disk, and the right to write.
const backupFileName = FileName + "-backup"

// Backup makes a consistent copy of the database while it is in use, with everything submitted
// before, and returns it open for reading. The copy has mode 0600 and is compact. The caller must
// call remove. One Backup can run at a time. The disk must hold the copy.
func Backup(ctx context.Context, s *Store) (copied *os.File, remove func(), err error) {
	if err := s.Flush(ctx); err != nil {
		return nil, nil, fmt.Errorf("committing before the backup: %w", err)
	}
	if err := s.files.check(); err != nil {
		return nil, nil, s.Explain(err)
	}
	path := filepath.Join(s.files.dir, backupFileName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a process that was killed
		return nil, nil, err
	}
	// SQLite would create it by the umask. It writes into an empty file.
	copied, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, err
	}
	remove = func() {
		_ = copied.Close() // it was read
		_ = os.Remove(path)
	}
	// A connection of the pool of readers can write nothing, not even another file.
	db, err := sql.Open("sqlite", dsn(s.path, "ro", []string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}))
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", path)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("copying the database: %w", s.Explain(err))
	}
	return copied, remove, nil
}
