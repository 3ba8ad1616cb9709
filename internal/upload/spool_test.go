//go:build unix

package upload

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

// spooling is the upload of a form to a new spool.
func spooling(t *testing.T, body io.Reader, announced int64) (*Upload, *Config) {
	t.Helper()
	r := post(body, announced)
	r.Header.Set("Content-Type", "Multipart/Form-Data; boundary=cut")
	c := &Config{Memory: unlimited(), Spool: NewSpool(t.TempDir()), Timeout: 2 * time.Minute, Now: time.Now}
	u := New(c, httptest.NewRecorder(), r, new(watchdog.Timer))
	t.Cleanup(u.Close)
	return &u, c
}

func files(t *testing.T, s *Spool) int {
	t.Helper()
	found, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// sound is so many bytes that repeat only after a while.
func sound(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i >> 7 * 31)
	}
	return b
}

func TestALargeFormIsInAFileAndNotInMemory(t *testing.T) {
	const size = 3*spoolAbove + 5
	want := sound(size)
	for name, announced := range map[string]int64{"announced": size, "in chunks": -1} {
		u, c := spooling(t, bytes.NewReader(want), announced)
		got, err := u.Read(size)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %d bytes, %v", name, len(got), err)
		}
		if c.Memory.Used() != 0 || c.Spool.disk.Used() != size || u.Len() != size || !u.Complete() || files(t, c.Spool) != 0 {
			t.Errorf("%s: %d bytes in memory, %d on the disk, %d in all", name, c.Memory.Used(), c.Spool.disk.Used(), u.Len())
		}
		free := u.Handover()
		u.Close()
		if got[size-1] != want[size-1] || c.Spool.disk.Used() != size {
			t.Errorf("%s: what was handed over is gone", name)
		}
		if free(); c.Spool.disk.Used() != 0 {
			t.Errorf("%s: %d bytes are kept", name, c.Spool.disk.Used())
		}
	}
}

func TestPromptsAndSmallFormsStayInMemory(t *testing.T) {
	for size, contentType := range map[int]string{spoolAbove + 1: "application/json", spoolAbove: "multipart/form-data; boundary=cut"} {
		u, c := spooling(t, bytes.NewReader(sound(size)), int64(size))
		u.r.Header.Set("Content-Type", contentType)
		if _, err := u.Read(MaxBody); err != nil || c.Spool.disk.Used() != 0 || c.Memory.Used() < int64(size) {
			t.Errorf("%s: %d bytes in memory, %d on the disk, %v", contentType, c.Memory.Used(), c.Spool.disk.Used(), err)
		}
	}
}

func TestALargeFormThatIsRefusedLeavesNothing(t *testing.T) {
	const size = 2 * spoolAbove
	failed := iotest.ErrReader(errors.New("broken"))
	for name, c := range map[string]struct {
		body   io.Reader
		limit  int64
		change func(*Spool)
		code   apierror.Code
	}{
		"too large":    {bytes.NewReader(sound(size)), size - 1, func(*Spool) {}, apierror.RequestTooLarge},
		"broken off":   {io.MultiReader(bytes.NewReader(sound(size-100)), failed), size, func(*Spool) {}, apierror.InvalidJSON},
		"a full disk":  {bytes.NewReader(sound(size)), size, func(s *Spool) { s.disk.SetLimit(size - 1) }, apierror.GatewayBusy},
		"no folder":    {bytes.NewReader(sound(size)), size, func(s *Spool) { s.dir = os.DevNull + "/x" }, apierror.LedgerUnavailable},
		"not writable": {bytes.NewReader(sound(size)), size, func(s *Spool) { s.dir = "/proc/self" }, apierror.LedgerUnavailable},
	} {
		u, config := spooling(t, c.body, -1)
		c.change(config.Spool)
		_, err := u.Read(c.limit)
		wantRefusal(t, err, c.code, "")
		if u.Close(); config.Memory.Used() != 0 || config.Spool.disk.Used() != 0 {
			t.Errorf("%s: %d bytes in memory, %d on the disk", name, config.Memory.Used(), config.Spool.disk.Used())
		}
	}
}

// A connection that is given up in the middle of a request never says that it is done.
func TestAnAbandonedFormIsFreedWithItsLastReference(t *testing.T) {
	u, c := spooling(t, strings.NewReader(strings.Repeat("a", 2*spoolAbove)), -1)
	if _, err := u.Read(MaxBody); err != nil {
		t.Fatal(err)
	}
	_ = u.Handover()
	for range 100 {
		if runtime.GC(); c.Spool.disk.Used() == 0 {
			return
		}
	}
	t.Errorf("%d bytes are kept", c.Spool.disk.Used())
}

func TestWithoutASpoolFormsAreInMemory(t *testing.T) {
	r := post(bytes.NewReader(sound(2*spoolAbove)), -1)
	r.Header = http.Header{"Content-Type": {"multipart/form-data"}}
	if body, err := read(t, unlimited(), r, MaxBody); err != nil || len(body) != 2*spoolAbove {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}
