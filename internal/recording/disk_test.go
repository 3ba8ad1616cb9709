package recording_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

func TestFailsOnceAndGoesOn(t *testing.T) {
	full := errors.New("no space left on device")
	for _, c := range []struct {
		name string
		make func(*disk)
		more int // times 2 KiB
		want string
	}{
		{"full", func(d *disk) { d.failure = full }, 100, full.Error()},
		{"slow", func(d *disk) { d.stuck = make(chan struct{}) }, 2000, "the disk is too slow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := new(disk)
				var failed []string
				var closed error
				w, id := write(t, d, recording.Options{
					Failed: func(err error) { failed = append(failed, err.Error()) },
					Closed: func(_ recording.End, err error) { closed = err },
				})
				w.Server([]byte("picture"))
				time.Sleep(2 * time.Second)
				synctest.Wait()
				c.make(d)
				begun := time.Now()
				for range c.more {
					w.Server(make([]byte, 2<<10))
				}
				synctest.Wait()
				if time.Since(begun) > time.Second {
					t.Errorf("it waited %v for the disk", time.Since(begun))
				}
				if len(failed) != 1 || !strings.Contains(failed[0], c.want) {
					t.Errorf("failed with %q, want once with %q", failed, c.want)
				}
				if d.stuck != nil {
					close(d.stuck)
				}
				if err := w.Close("viewer"); err == nil || closed == nil || !d.closed {
					t.Errorf("Close: %v, closed with %v", err, closed)
				}
				got, err := read(t, d.Bytes(), id)
				if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) == 0 || !strings.Contains(got[0], "picture") {
					t.Errorf("read %d frames, %v", len(got), err)
				}
			})
		})
	}
}

// A burst waits for a disk that is busy, which it may be, and not for one that falls behind.
func TestABurstWaitsForABusyDisk(t *testing.T) {
	for takes, want := range map[time.Duration]bool{20 * time.Millisecond: true, 300 * time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			d := &disk{takes: takes}
			var failed error
			w, id := write(t, d, recording.Options{Failed: func(err error) { failed = err }})
			begun := time.Now()
			for range 160 { // 10 MiB
				w.Server(make([]byte, 64<<10))
			}
			waited := time.Since(begun)
			err := w.Close("viewer")
			synctest.Wait()
			if (err == nil) != want || (failed == nil) != want || waited > time.Second {
				t.Errorf("a write takes %v: waited %v, %v, %v", takes, waited, failed, err)
			}
			if frames, end := read(t, d.Bytes(), id); want && (len(frames) != 161 || end != io.EOF) {
				t.Errorf("%d frames, %v", len(frames), end)
			}
		})
	}
}

func TestCloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(disk)
		w, _ := write(t, d, recording.Options{})
		d.stuck = make(chan struct{})
		w.Server([]byte("picture"))
		begun := time.Now()
		if err := w.Close("viewer"); err == nil {
			t.Error("no error")
		}
		if time.Since(begun) > 5*time.Second {
			t.Errorf("it waited %v", time.Since(begun))
		}
		close(d.stuck)
	})
}
