package sse_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

func TestReadersAtOnceDoNotMix(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 100 {
				data := strings.Repeat(fmt.Sprintf("of reader %d, ", i), 1+n*n) // up to some 100 KiB
				reader := sse.NewReader(&repeating{stream: "data: " + data + "\n\n", step: 100 + n*50}, 1<<20)
				for range 3 {
					event, err := reader.Next()
					if err != nil || string(event.Data) != data {
						t.Errorf("reader %d got %.100q, %v", i, event.Data, err)
						return
					}
				}
				reader.Release()
				if event, err := reader.Next(); err != io.EOF {
					t.Errorf("released, and yet %q, %v", event.Raw, err)
				}
			}
		})
	}
	all.Wait()
}

// silence is a stream that sends nothing more.
type silence struct{ stream string }

func (s *silence) Read(p []byte) (int, error) {
	n := copy(p, s.stream)
	s.stream = s.stream[n:]
	return n, nil
}

// While one reader waits for its source, another may use the first one's buffer.
func TestWaitingReaderHasReleasedItsBuffer(t *testing.T) {
	mine, theirs := strings.Repeat("mine ", 100), strings.Repeat("theirs ", 100)
	other := sse.NewReader(&repeating{stream: "data: " + theirs + "\n\n", step: 1 << 20}, bound)
	left, reads := "", 0
	reader := sse.NewReader(readFunc(func(p []byte) (int, error) {
		var event sse.Event
		if left == "" {
			left = "data: " + mine + "\n\n"
			if reads++; reads > 1 {
				var err error
				if event, err = other.Next(); err != nil {
					return 0, err
				}
			}
		}
		n := copy(p, left)
		left = left[n:]
		if event.Data != nil && string(event.Data) != theirs {
			t.Errorf("the other reader's event became %.100q", event.Data)
		}
		return n, nil
	}), bound)
	for range 10 {
		if event, err := reader.Next(); err != nil || string(event.Data) != mine {
			t.Fatalf("%.100q %v", event.Data, err)
		}
	}
}
