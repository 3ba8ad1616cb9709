//go:build unix

package vncrelay

import "syscall"

const canWait = true

// take reads once. It returns false if nothing is there: then the runtime waits and calls it again.
func (s *source) take(fd uintptr) bool {
	s.buffer = bulks.Get().(*[]byte)
	for {
		s.n, s.err = syscall.Read(int(fd), (*s.buffer)[:s.most])
		switch s.err {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			s.done()
			return false
		}
		if s.n <= 0 {
			s.done()
		}
		return true
	}
}
