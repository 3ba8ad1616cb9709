package store

import (
	"io"
	"testing"
	"time"
)

// SetBusyTimeout changes how long stores that a test opens wait for another process's lock.
func SetBusyTimeout(t testing.TB, d time.Duration) {
	before := busyTimeout
	busyTimeout = d
	t.Cleanup(func() { busyTimeout = before })
}

// RedoFileSize is the size from which the other file of the redo log is used.
const RedoFileSize = redoFileSize

// RedoNames are the files of the redo log.
var RedoNames = redoNames

// RedoFile is what the redo log needs of a file.
type RedoFile = interface {
	io.WriterAt
	io.Closer
	Truncate(int64) error
}

// ReplaceRedoFiles replaces the files of the redo log. Nothing may be written meanwhile.
func ReplaceRedoFiles(s *Store, replace func(RedoFile) RedoFile) {
	for i := range s.log.files {
		s.log.files[i].file = replace(s.log.files[i].file)
	}
}

// ReadRedo, AppendHead and AppendRecord are the format of the redo log.
var (
	ReadRedo     = readRedo
	AppendHead   = appendHead
	AppendRecord = appendRecord
	ErrOtherRun  = errOtherRun
	ErrTorn      = errTorn
)

// PendingMemory returns the capacity of the buffer of records that are not written.
func PendingMemory(s *Store) int {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return cap(s.log.pending)
}

// RedoBuffer is the largest such buffer that is kept.
const RedoBuffer = redoBuffer
