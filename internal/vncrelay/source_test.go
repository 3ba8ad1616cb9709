package vncrelay

import (
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
)

// ending is a connection that gives its last bytes together with its end.
type ending struct{ net.Conn }

func (ending) Read(p []byte) (int, error) { return copy(p, "last"), io.EOF }

func TestTheLastBytesBeforeAnErrorAreRead(t *testing.T) {
	if piece, err := newSource(ending{}, bulkSize).next(); string(piece) != "last" || err != nil {
		t.Errorf("%q, %v", piece, err)
	}
}

// A thousand silent workstations must not hold a buffer each.
func TestASourceOverTCPHoldsABufferOnlyWithBytes(t *testing.T) {
	ours, workstation := loopback(t)
	s := newSource(ours, bulkSize)
	if s.small != nil && runtime.GOOS != "windows" {
		t.Fatalf("it holds %d bytes", len(s.small))
	}
	for _, sent := range []string{"a", "picture"} {
		if _, err := io.WriteString(workstation, sent); err != nil {
			t.Fatal(err)
		}
		if piece, err := s.next(); string(piece) != sent || err != nil {
			t.Errorf("%q, %v", piece, err)
		}
		if s.done(); s.buffer != nil {
			t.Error("the buffer is held")
		}
	}
	_ = workstation.Close()
	if piece, err := s.next(); len(piece) > 0 || !errors.Is(err, io.EOF) || s.buffer != nil {
		t.Errorf("%q, %v at the end", piece, err)
	}
	_ = ours.Close()
	if _, err := s.next(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
