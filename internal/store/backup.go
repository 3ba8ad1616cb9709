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
	if err := fits(ctx, s); err != nil {
		return nil, nil, fmt.Errorf("copying the database: %w", err)
	}
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

// backupReserve is how many bytes of the disk a copy must leave, for what is written meanwhile.
const backupReserve = 16 << 20

// fits returns an error if the disk does not hold a copy: one that fills it would stop the commits of
// calls until it has failed.
func fits(ctx context.Context, s *Store) error {
	free, ok := freeSpace(s.files.dir)
	if !ok {
		return nil
	}
	var size uint64
	err := s.readDB.QueryRowContext(ctx, "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size").Scan(&size)
	if err != nil {
		return s.Explain(err)
	}
	if free < size+backupReserve {
		return fmt.Errorf("it takes %d MiB, and %q has %d MiB left: free space until %d MiB are left for calls meanwhile", size>>20, s.files.dir, free>>20, backupReserve>>20)
	}
	return nil
}
