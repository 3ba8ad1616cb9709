package vncrelay

import (
	"io"
	"net"
	"sync"
	"syscall"
)

const (
	// bulkSize is how much is read from a workstation at a time. It was measured: twice as much or
	// more costs more, as it leaves the processor's cache, also where the TLS records of a piece
	// are written in one call.
	bulkSize = 32 << 10
	// smallSize is for connections that cannot wait without a buffer, so that it is held all the
	// time.
	smallSize = 16 << 10
)

var bulks = sync.Pool{New: func() any { b := make([]byte, bulkSize); return &b }}

// source reads from a workstation. For a plain TCP connection it holds no buffer while that is
// silent: of a thousand open desktops most show nothing new.
type source struct {
	conn net.Conn
	raw  syscall.RawConn // nil where only a read can wait

	most   int     // bytes at a time, at most bulkSize
	buffer *[]byte // from bulks; nil while nothing was read
	small  []byte
	n      int
	err    error // of the system call
}

func newSource(conn net.Conn, most int) *source {
	s := &source{conn: conn, most: most}
	if tcp, ok := conn.(*net.TCPConn); ok && canWait {
		s.raw, _ = tcp.SyscallConn() // else as any other connection
	}
	if s.raw == nil {
		s.small = make([]byte, min(smallSize, most))
	}
	return s
}

// next waits for bytes. They are valid until done.
func (s *source) next() ([]byte, error) {
	if s.raw == nil {
		n, err := s.conn.Read(s.small)
		if n > 0 {
			err = nil // the next read has it again
		}
		return s.small[:n], err
	}
	if err := s.raw.Read(s.take); err != nil {
		return nil, err
	}
	if s.err != nil || s.n == 0 {
		return nil, io.EOF // or broken, which ends it too
	}
	return (*s.buffer)[:s.n], nil
}

// done returns the buffer to the pool.
func (s *source) done() {
	if s.buffer != nil {
		bulks.Put(s.buffer)
		s.buffer = nil
	}
}
