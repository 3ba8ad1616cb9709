package upload

import (
	"os"
	"runtime"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
)

const (
	// spoolAbove is the size of a form from which it goes to a file, in bytes. Most pictures and
	// dictations are smaller.
	spoolAbove = 8 << 20

	// MaxSpooled bounds the files of all forms together, in bytes: ten of 100 MB.
	MaxSpooled = 1 << 30
)

// Bodies are the bodies of all requests: the memory that they hold, and the files.
type Bodies struct {
	memory.Semaphore
	Spool *Spool
}

// Spool keeps large forms in files, which have no name any more: they end with the process. A form has
// sounds or pictures, of which nobody reads more than the head, so its memory is the system's cache of
// files. Other bodies, which are prompts, stay in memory. A nil Spool keeps nothing. It is safe for
// concurrent use.
type Spool struct {
	dir  string
	disk memory.Semaphore
}

// NewSpool returns a spool with its files in a folder, which is made when it is needed. It is nil on
// systems that cannot map files into memory.
func NewSpool(dir string) *Spool {
	if !canMap {
		return nil
	}
	s := &Spool{dir: dir}
	s.disk.SetLimit(MaxSpooled)
	return s
}

// takes reports whether a body that will have so many bytes goes to a file.
func (s *Spool) takes(contentType string, size int64) bool {
	const form = "multipart/form-data"
	return s != nil && size > spoolAbove && len(contentType) >= len(form) && strings.EqualFold(contentType[:len(form)], form)
}

// create returns an empty file.
func (s *Spool) create() (*spooled, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, spoolFailed(err)
	}
	f, err := os.CreateTemp(s.dir, "upload-*")
	if err != nil {
		return nil, spoolFailed(err)
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, spoolFailed(err)
	}
	return &spooled{mapping: mapping{spool: s}, file: f}, nil
}

// spooled is a body in a file. One goroutine uses it.
type spooled struct {
	mapping
	file    *os.File // closed once the body is whole
	cleanup runtime.Cleanup
}

// mapping is what a spooled body holds.
type mapping struct {
	spool *Spool
	size  int64
	data  []byte // nil until the body is whole
}

func (m mapping) release() {
	if m.data != nil {
		_ = unmapFile(m.data)
	}
	m.spool.disk.Give(m.size)
}

// add appends to the file. Errors: 429, 503.
func (s *spooled) add(b []byte) error {
	if !s.spool.disk.Take(int64(len(b))) {
		e := apierror.New(apierror.GatewayBusy, "the gateway keeps as many large uploads on its disk as it can; try again shortly")
		e.RefusedBy = "gateway: large uploads"
		return e
	}
	s.size += int64(len(b))
	if _, err := s.file.Write(b); err != nil {
		return spoolFailed(err)
	}
	return nil
}

// whole returns the body. It is valid until free, and without that until nothing refers to s: a
// connection that is given up never says that it is done.
func (s *spooled) whole() ([]byte, error) {
	data, err := mapFile(s.file, int(s.size))
	if err != nil {
		return nil, spoolFailed(err)
	}
	_ = s.file.Close()
	s.data = data
	s.cleanup = runtime.AddCleanup(s, mapping.release, s.mapping)
	return data, nil
}

// mapped reports whether the body is whole.
func (s *spooled) mapped() bool { return s.data != nil }

func (s *spooled) free() {
	if s.mapped() {
		s.cleanup.Stop()
	} else {
		_ = s.file.Close()
	}
	s.release()
}

func spoolFailed(err error) error {
	return apierror.New(apierror.LedgerUnavailable, "the gateway cannot keep so large an upload: its disk failed").WithCause(err)
}

// makeRoom makes room in a full buffer.
func (u *Upload) makeRoom(limit int64) (err error) {
	size := nextSize(cap(u.buffer), u.r.ContentLength, limit)
	expected := u.r.ContentLength
	if expected < 0 {
		expected = int64(size)
	}
	if u.file == nil && u.config.Spool.takes(u.r.Header.Get("Content-Type"), expected) {
		if u.file, err = u.config.Spool.create(); err != nil {
			return err
		}
	}
	if u.file == nil {
		return u.grow(size)
	}
	return u.flush()
}

// flush moves the buffer into the file.
func (u *Upload) flush() error {
	err := u.file.add(u.buffer)
	u.flushed += int64(len(u.buffer))
	u.buffer = u.buffer[:0]
	return err
}

// end notes that the body was read to its end, and returns it.
func (u *Upload) end() ([]byte, error) {
	if u.file != nil {
		if err := u.flush(); err != nil {
			return nil, err
		}
		data, err := u.file.whole()
		if err != nil {
			return nil, err
		}
		giveBuffer(u.buffer)
		u.buffer, u.flushed = data, 0
		u.Free(0)
	}
	u.complete = true
	return u.buffer, nil
}
