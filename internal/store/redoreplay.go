package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/queue"
)

// redoSchema has the table of the redo log: one row, written by every commit.
var redoSchema = Schema{
	Name: "redo",
	Steps: []string{`
		CREATE TABLE redo (
			run    INTEGER NOT NULL, -- of the process that writes; chosen at its start
			number INTEGER NOT NULL  -- of the last operation that it has committed
		);
		INSERT INTO redo VALUES (0, 0);`,
	},
}

const (
	selectRedo = "SELECT run, number FROM redo"
	updateRedo = "UPDATE redo SET number = ?"
	startRun   = "UPDATE redo SET run = ?, number = 0"
)

// adviceRedo is for a record that this program does not know.
const adviceRedo = "move the file away to start without it; the reservations and charges in it are lost then"

// redo applies the operations that the last process has logged and not committed, and returns an
// empty log. Each step may be interrupted: what is applied has its number in the table, so nothing
// is applied twice, and the files are emptied only afterwards.
func (w *writer) redo(decode func([]byte) (Op, error)) (*redoLog, error) {
	var run int64
	var number uint64
	if err := w.tx.Get(selectRedo, nil, &run, &number); err != nil {
		return nil, err
	}
	applied := 0
	for _, name := range w.inOrder(uint64(run)) {
		n, err := w.replay(filepath.Join(w.files.dir, name), uint64(run), number, decode)
		applied += n
		if errors.Is(err, errOtherRun) || errors.Is(err, errTorn) {
			err = w.setRedoAside(name, err)
		}
		if err != nil {
			return nil, err
		}
	}
	if applied > 0 {
		w.opts.Logger.Info("operations that the last process had not committed were read from the redo log", zap.Int("operations", applied))
	}
	log := &redoLog{check: w.files.check, failed: w.attemptFailed, changed: w.redoChanged}
	next := rand.Int64()
	if err := log.create(w.files.dir, uint64(next)); err != nil {
		return nil, errors.Join(err, log.close())
	}
	err := w.transact(nil, 0, func([]Op) error {
		_, err := w.tx.Exec(startRun, next)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, log.close())
	}
	return log, nil
}

// inOrder returns the names of the two files, that with the lower numbers first.
func (w *writer) inOrder(run uint64) []string {
	var first [2]uint64
	stop := errors.New("read")
	for i, name := range redoNames {
		_ = readRedoFile(filepath.Join(w.files.dir, name), run, func(number uint64, _ []byte) error { // replay reports it
			first[i] = number
			return stop
		})
	}
	if first[0] > first[1] {
		return []string{redoNames[1], redoNames[0]}
	}
	return redoNames[:]
}

// replay applies the operations of a file with numbers above number, in groups like those of the
// queue, and returns how many they were.
func (w *writer) replay(path string, run, number uint64, decode func([]byte) (Op, error)) (applied int, err error) {
	var group []Op
	commit := func() error {
		if len(group) == 0 {
			return nil
		}
		applied += len(group)
		err := w.commit(group, number)
		group = group[:0]
		return err
	}
	err = readRedoFile(path, run, func(n uint64, text []byte) error {
		if n <= number {
			return nil
		}
		op, err := decode(text)
		if err != nil {
			return fmt.Errorf("operation %d in the redo log %q: %w; %s", n, path, err, adviceRedo)
		}
		group, number = append(group, op), n
		if len(group) < queue.Group {
			return nil
		}
		return commit()
	})
	if err := commit(); err != nil {
		return applied, err
	}
	return applied, err
}

// setRedoAside renames a file that could not be read to its end, for an operator who wants to look
// at it.
func (w *writer) setRedoAside(name string, cause error) error {
	path := filepath.Join(w.files.dir, name)
	if err := os.Rename(path, path+lostSuffix); err != nil {
		return err
	}
	w.opts.Logger.Warn("a file of the redo log was renamed: reservations of the last moments before a kill may be missing",
		zap.String("file", path), zap.String("renamed", path+lostSuffix), zap.Error(cause))
	return nil
}

// removeRedo removes the files of a log whose operations are all committed.
func removeRedo(dir string) error {
	var errs []error
	for _, name := range redoNames {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
