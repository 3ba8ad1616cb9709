package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A file of the redo log. Integers are little-endian.
//
//	magic 8 | run 8 | record | record | …
//	record: checksum 4 | length 4 | number 8 | text
//
// The checksum covers the rest of the record, the length only the text. Numbers rise. The run is
// that of the process which wrote the file: the table redo has the same.
const (
	redoMagic    = "GHREDO1\n"
	redoHead     = len(redoMagic) + 8
	recordHead   = 4 + 4 + 8
	maxRecord    = 1 << 20 // far above any record; a damaged length cannot take more memory
	redoFileName = FileName + "-redo"
	probeSize    = 4 << 10 // a block of most file systems: less may fit into the last one
)

// redoNames are the names of the two files. They are not "-journal": SQLite would take such a file
// for its own.
var redoNames = [2]string{redoFileName + "0", redoFileName + "1"}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// redoFile is one file that is written.
type redoFile struct {
	file interface {
		io.WriterAt
		io.Closer
		Truncate(int64) error
	}
	head   [redoHead]byte
	size   int64
	newest uint64 // number of the last record
}

func (f *redoFile) empty() error {
	if err := f.file.Truncate(0); err != nil {
		return err
	}
	f.size, f.newest = 0, 0
	return nil
}

// append writes records behind the last that succeeded.
func (f *redoFile) append(records []byte, newest uint64) error {
	size, err := f.write(records)
	if err != nil {
		_ = f.file.Truncate(f.size) // its callers are refused: a crash now must not charge them
		return err
	}
	f.size, f.newest = size, newest
	return nil
}

// write returns the new size of the file.
func (f *redoFile) write(records []byte) (int64, error) {
	at := f.size
	if at == 0 {
		if _, err := f.file.WriteAt(f.head[:], 0); err != nil {
			return 0, err
		}
		at = int64(redoHead)
	}
	_, err := f.file.WriteAt(records, at)
	return at + int64(len(records)), err
}

// probe writes something behind the last record and takes it away again.
func (f *redoFile) probe() error {
	_, err := f.file.WriteAt(make([]byte, probeSize), f.size)
	return errors.Join(err, f.file.Truncate(f.size))
}

func (f *redoFile) close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

func appendHead(b []byte, run uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, redoMagic...), run)
}

func appendRecord(b []byte, number uint64, op Logged) []byte {
	start := len(b)
	b = append(b, make([]byte, recordHead)...)
	b = op.AppendRecord(b)
	record := b[start:]
	binary.LittleEndian.PutUint32(record[4:], uint32(len(record)-recordHead))
	binary.LittleEndian.PutUint64(record[8:], number)
	binary.LittleEndian.PutUint32(record, crc32.Checksum(record[4:], castagnoli))
	return b
}

var (
	// errOtherRun means that a file is not of the run that the database names.
	errOtherRun = errors.New("it belongs to another database, or to an earlier state of this one")
	// errTorn means that a file ends with something else than a record: a write that was interrupted,
	// or damage.
	errTorn = errors.New("its end cannot be read")
)

// readRedo calls each with the records of a file, in order. The text is valid during the call. The
// error wraps errOtherRun, errTorn, or is that of each.
func readRedo(from io.Reader, run uint64, each func(number uint64, text []byte) error) error {
	in := bufio.NewReader(from)
	head := make([]byte, redoHead)
	switch n, err := io.ReadFull(in, head); {
	case n == 0 && err == io.EOF:
		return nil
	case err != nil:
		return ended(err)
	case string(head) != string(appendHead(nil, run)):
		return errOtherRun
	}
	var record []byte
	var last uint64
	for {
		record = slices.Grow(record[:0], recordHead)[:recordHead]
		switch n, err := io.ReadFull(in, record); {
		case n == 0 && err == io.EOF:
			return nil
		case err != nil:
			return ended(err)
		}
		length := binary.LittleEndian.Uint32(record[4:])
		if length > maxRecord {
			return errTorn
		}
		record = slices.Grow(record, int(length))[:recordHead+int(length)]
		if _, err := io.ReadFull(in, record[recordHead:]); err != nil {
			return ended(err)
		}
		number := binary.LittleEndian.Uint64(record[8:])
		if binary.LittleEndian.Uint32(record) != crc32.Checksum(record[4:], castagnoli) || number <= last {
			return errTorn
		}
		if err := each(number, record[recordHead:]); err != nil {
			return err
		}
		last = number
	}
}

// ended returns the meaning of a read that failed within a record.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return err
}

// readRedoFile is readRedo for a file, which may be missing.
func readRedoFile(path string, run uint64, each func(number uint64, text []byte) error) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return readRedo(f, run, each)
}

// create creates the files, empty.
func (l *redoLog) create(dir string, run uint64) error {
	for i, name := range redoNames {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("creating the redo log: %w", err)
		}
		l.files[i].file = f
		if err := f.Chmod(0o600); err != nil {
			return fmt.Errorf("creating the redo log: %w", err)
		}
		appendHead(l.files[i].head[:0], run)
	}
	return nil
}
