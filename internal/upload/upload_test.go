package upload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

// post is a request with a body of announced bytes (-1 = chunked).
func post(body io.Reader, announced int64) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", body)
	r.ContentLength = announced
	return r
}

// unlimited is a memory that a test does not fill.
func unlimited() *memory.Semaphore { return limitedTo(1 << 30) }

func limitedTo(bytes int64) *memory.Semaphore {
	m := new(memory.Semaphore)
	m.SetLimit(bytes)
	return m
}

// read reads the body of a request as an upload, which the test closes at its end.
func read(t *testing.T, m *memory.Semaphore, r *http.Request, limit int64) ([]byte, error) {
	t.Helper()
	u := newUpload(m, r)
	t.Cleanup(u.Close)
	return u.Read(limit)
}

func newUpload(m *memory.Semaphore, r *http.Request) *Upload {
	u := New(&Config{Memory: m, Timeout: 2 * time.Minute, Now: time.Now}, httptest.NewRecorder(), r, new(watchdog.Timer))
	return &u
}

func wantRefusal(t *testing.T, err error, code apierror.Code, text string) {
	t.Helper()
	if e := apierror.From(err); err == nil || e.Code != code || !strings.Contains(e.Message, text) {
		t.Errorf("got %v, want %s with %q", err, code, text)
	}
}

// endless never ends, and counts what was read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func TestABodyIsTheSameHoweverItArrives(t *testing.T) {
	m := unlimited()
	for _, size := range []int{0, 1, 2, 4095, 256 << 10, 256<<10 + 1, 3 << 20} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		for name, cut := range map[string]func(io.Reader) io.Reader{
			"whole":        func(r io.Reader) io.Reader { return r },
			"in halves":    iotest.HalfReader,
			"EOF with end": iotest.DataErrReader,
		} {
			for _, announced := range []int64{-1, int64(size)} {
				u := newUpload(m, post(cut(bytes.NewReader(want)), announced))
				got, err := u.Read(MaxBody)
				if err != nil || !bytes.Equal(got, want) || !u.Complete() || u.Len() != size {
					t.Errorf("%d bytes %s, announced %d: got %d bytes, %v", size, name, announced, len(got), err)
				}
				if again, err := u.Read(MaxBody); err != nil || !bytes.Equal(again, want) {
					t.Errorf("%d bytes %s: a second read gives %d bytes, %v", size, name, len(again), err)
				}
				u.Close()
			}
		}
	}
	if used := m.Used(); used != 0 {
		t.Errorf("%d bytes of memory were not given back", used)
	}
}

// A Content-Length is a claim: memory is taken for what has come.
func TestMemoryIsTakenAsBytesArrive(t *testing.T) {
	m := unlimited()
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := read(t, m, post(reader, 30<<20), MaxBody)
		done <- err
	}()
	if _, err := writer.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if used := m.Used(); used < 1000 || used > 1<<20 {
		t.Errorf("after 1000 bytes of an announced 30 MiB %d bytes are taken", used)
	}
	_ = writer.CloseWithError(io.ErrUnexpectedEOF)
	wantRefusal(t, <-done, apierror.ClientGone, "the client left")
}

func TestABodyIsReadUpToItsLimit(t *testing.T) {
	for _, limit := range []int64{1000, MaxBody} {
		source := &endless{}
		body, err := read(t, unlimited(), post(io.LimitReader(source, limit), -1), limit)
		if err != nil || int64(len(body)) != limit {
			t.Errorf("limit %d: got %d bytes, %v", limit, len(body), err)
		}
		_, err = read(t, unlimited(), post(io.LimitReader(source, limit+1), -1), limit)
		wantRefusal(t, err, apierror.RequestTooLarge, fmt.Sprintf("the limit is %d bytes", limit))
	}
	source := &endless{}
	_, err := read(t, unlimited(), post(source, -1), MaxBody)
	wantRefusal(t, err, apierror.RequestTooLarge, "")
	if source.read > MaxBody+1 {
		t.Errorf("%d bytes of an endless body were read", source.read)
	}
}

// The least that can be configured is enough for a body of the largest size, also if its size is not
// announced and its buffer grows.
func TestTheLeastMemoryHoldsTheLargestBody(t *testing.T) {
	m := limitedTo(MinMemory)
	for _, announced := range []int64{-1, MaxBody} {
		u := newUpload(m, post(io.LimitReader(&endless{}, MaxBody), announced))
		if _, err := u.Read(MaxBody); err != nil {
			t.Errorf("announced %d: %v", announced, err)
		}
		u.Close()
	}
}

func TestATooLargeContentLengthIsRefusedUnread(t *testing.T) {
	m, source := unlimited(), &endless{}
	_, err := read(t, m, post(source, MaxBody+1), MaxBody)
	wantRefusal(t, err, apierror.RequestTooLarge, "33554433")
	if source.read != 0 || m.Used() != 0 {
		t.Errorf("%d bytes read, %d taken", source.read, m.Used())
	}
}

func TestAFullMemoryIsARefusal(t *testing.T) {
	m := limitedTo(8 << 20)
	first := newUpload(m, post(io.LimitReader(&endless{}, 2<<20), 2<<20))
	if _, err := first.Read(MaxBody); err != nil {
		t.Fatal(err)
	}
	second := newUpload(m, post(io.LimitReader(&endless{}, 3<<20), 3<<20))
	_, err := second.Read(MaxBody)
	wantRefusal(t, err, apierror.GatewayBusy, "")
	wantRefusal(t, first.Reserve(8<<20), apierror.GatewayBusy, "")
	second.Close()
	first.Close()
	if used := m.Used(); used != 0 {
		t.Errorf("%d bytes were not given back", used)
	}
}

func TestAFailedReadSaysWhatWentWrong(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		name    string
		request *http.Request
		code    apierror.Code
		text    string
	}{
		{"the site's own limit", post(http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("12345")), 3), -1), apierror.RequestTooLarge, "limit of 3 bytes"},
		{"a deadline", post(iotest.ErrReader(os.ErrDeadlineExceeded), -1), apierror.RequestTimeout, "within 2m0s"},
		{"a broken connection", post(iotest.ErrReader(io.ErrUnexpectedEOF), -1), apierror.ClientGone, ""},
		{"a client that left", post(iotest.ErrReader(errors.New("reset")), -1).WithContext(gone), apierror.ClientGone, ""},
		{"bad framing", post(iotest.ErrReader(errors.New("malformed chunked encoding")), -1), apierror.InvalidJSON, "could not be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := read(t, unlimited(), c.request, MaxBody)
			wantRefusal(t, err, c.code, c.text)
		})
	}
}

func TestAnEncodedBodyIsRefused(t *testing.T) {
	for encoding, refused := range map[string]bool{"gzip": true, "br": true, "identity, gzip": true, "identity": false, "Identity": false} {
		request := post(strings.NewReader("{}"), 2)
		request.Header.Set("Content-Encoding", encoding)
		_, err := read(t, unlimited(), request, MaxBody)
		if refused {
			wantRefusal(t, err, apierror.UnsupportedEncoding, encoding)
		} else if err != nil {
			t.Errorf("%q: %v", encoding, err)
		}
	}
}

// The memory of a body that was handed over is free once the provider has it, except for what it
// still reads.
func TestMemoryIsFreedAfterTheHandover(t *testing.T) {
	m := unlimited()
	u := newUpload(m, post(strings.NewReader(strings.Repeat("x", 10_000)), 10_000))
	if _, err := u.Read(MaxBody); err != nil {
		t.Fatal(err)
	}
	held := m.Used()
	release := u.Handover()
	u.Free(1000)
	if held < 10_000 || m.Used() != 1000 {
		t.Errorf("held %d bytes before and %d after", held, m.Used())
	}
	u.Free(5000)
	if m.Used() != 1000 {
		t.Errorf("%d bytes are held, want the 1000 of before", m.Used())
	}
	release()
	u.Close()
	if m.Used() != 0 {
		t.Errorf("%d bytes were not given back", m.Used())
	}
}

// deadlines is a response writer that notes the read deadlines that are set.
type deadlines struct {
	http.ResponseWriter
	set     []time.Time
	expired chan struct{} // closed by a deadline in the past
	flushed bool
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	if d.set = append(d.set, at); !at.IsZero() && !at.After(time.Now()) && d.expired != nil {
		close(d.expired)
	}
	return nil
}

func (d *deadlines) FlushError() error { d.flushed = true; return nil }

// hanging gives nothing until its deadline has expired.
type hanging struct{ expired chan struct{} }

func (h hanging) Read([]byte) (int, error) {
	<-h.expired
	return 0, os.ErrDeadlineExceeded
}

func TestAnUploadThatTakesTooLongIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &deadlines{ResponseWriter: httptest.NewRecorder(), expired: make(chan struct{})}
		u := New(&Config{Memory: unlimited(), Timeout: 2 * time.Minute, Now: time.Now}, w, post(hanging{w.expired}, 10), new(watchdog.Timer))
		defer u.Close()
		begun := time.Now()
		_, err := u.Read(MaxBody)
		wantRefusal(t, err, apierror.RequestTimeout, "within 2m0s")
		if took := time.Since(begun); took != 2*time.Minute {
			t.Errorf("after %s", took)
		}
		if len(w.set) != 2 || !w.set[1].IsZero() {
			t.Errorf("deadlines %v: the next request on the connection has none", w.set)
		}
		u.Interrupt()
		if len(w.set) != 2 {
			t.Error("a read that is over was interrupted")
		}
	})
}
