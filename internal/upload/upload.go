// Package upload reads request bodies.
//
// A body is read whole into one buffer, and a large form into a file: see [Spool]. The bytes of all
// bodies together are bounded by a [memory.Semaphore], which is taken as bytes arrive: a Content-Length
// is only a claim. An upload that takes too long is ended, and one that is refused is read and thrown
// away for a while, so that its client sees the refusal instead of a broken connection.
package upload

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

const (
	// MaxBody is the largest request body in bytes, unless a limit says otherwise (32 MiB, which is
	// what the largest providers accept).
	MaxBody = 32 << 20

	// MaxMaxBody is the largest limit that a key or a model can have, in bytes.
	MaxMaxBody = 256 << 20

	// MinMemory is enough for one body of the largest size: while it grows, its buffer and the next
	// larger one exist.
	MinMemory = 2 * MaxBody

	// smallBody is the largest buffer that may use the last eighth of the memory, in bytes: large
	// uploads, which a client may leave half-sent for as long as it has, must not stop small calls.
	smallBody = 64 << 10

	// firstRead is how many bytes a Content-Length alone can make us allocate.
	firstRead = 256 << 10
)

// Config is what all uploads of a gateway have in common.
type Config struct {
	Memory  *memory.Semaphore // it never waits: a full one is 429, and no queue of half-read uploads
	Spool   *Spool            // nil: all bodies are in memory
	Timeout time.Duration     // for a body to arrive whole
	Now     func() time.Time
}

// Upload is the body of one request. One goroutine uses it, except for Expire and Interrupt.
type Upload struct {
	config   *Config
	w        http.ResponseWriter
	r        *http.Request
	watch    *watchdog.Timer
	buffer   []byte   // nil before Read and after Handover
	file     *spooled // of a large form, nil for others
	flushed  int64    // bytes in the file that are not in the buffer
	held     int64    // bytes of memory
	complete bool     // the body was read to its end

	mu          sync.Mutex // guards the following
	reading     bool       // Read waits
	interrupted bool
}

// New returns the upload of a request. The timer is used while Read runs, and may watch other waits
// at other times.
func New(c *Config, w http.ResponseWriter, r *http.Request, watch *watchdog.Timer) Upload {
	return Upload{config: c, w: w, r: r, watch: watch}
}

// Read reads the body to its end and returns it, at most limit bytes. A second Read returns the same
// bytes, which must not be changed. They are valid until Handover or Close. Memory is taken as bytes
// arrive, at most four times what has come. Errors are of [apierror]: 400 (too slow, unreadable), 413,
// 415, 429 (memory), 503 (disk), or the client left.
func (u *Upload) Read(limit int64) ([]byte, error) {
	if u.complete {
		return u.buffer, nil
	}
	switch encoding := u.r.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
	default:
		return nil, apierror.New(apierror.UnsupportedEncoding, "the request body is encoded as %q; send it plain", encoding)
	}
	if u.r.ContentLength > limit {
		return nil, tooLarge(u.r.ContentLength, limit)
	}
	// One byte more, so that the end is seen without growing.
	if err := u.grow(int(min(max(u.r.ContentLength, 0), firstRead)) + 1); err != nil {
		return nil, err
	}
	u.beginReading()
	defer u.endReading()
	for {
		n, err := u.r.Body.Read(u.buffer[len(u.buffer):cap(u.buffer)])
		u.buffer = u.buffer[:len(u.buffer)+n]
		if size := int64(u.Len()); size > limit {
			return nil, tooLarge(size, limit)
		}
		switch {
		case err == io.EOF:
			return u.end()
		case err != nil:
			return nil, u.failure(err)
		}
		if len(u.buffer) == cap(u.buffer) {
			if err := u.makeRoom(limit); err != nil {
				return nil, err
			}
		}
	}
}

// nextSize returns the size of the buffer after a full one: four times as large, or, if that is at
// least half of it, what holds the announced body, or any body, and one byte more. The last growth
// copies most and must not be done twice.
func nextSize(full int, announced, limit int64) int {
	last := int(limit) + 1
	if announced >= int64(full) {
		last = int(announced) + 1
	}
	if size := 4 * full; size < last/2 {
		return size
	}
	return last
}

func (u *Upload) beginReading() {
	u.mu.Lock()
	u.reading = true
	u.mu.Unlock()
	u.watch.Start(u.config.Timeout, u)
}

func (u *Upload) endReading() {
	u.watch.Stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.interrupted { // the next request on the connection has its own time
		_ = u.setReadDeadline(time.Time{})
	}
	u.reading = false
}

// Expire implements [watchdog.Waiter].
func (u *Upload) Expire() { u.Interrupt() }

// Interrupt makes a Read in another goroutine fail. It has no effect if none waits. A server that
// cannot set deadlines (a test's recorder) reads on.
func (u *Upload) Interrupt() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.reading {
		u.interrupted = u.setReadDeadline(u.config.Now()) == nil
	}
}

func (u *Upload) setReadDeadline(at time.Time) error {
	return http.NewResponseController(u.w).SetReadDeadline(at)
}

// Complete reports whether the body was read to its end.
func (u *Upload) Complete() bool { return u.complete }

// Len returns how many bytes were read.
func (u *Upload) Len() int { return int(u.flushed) + len(u.buffer) }

// SmallAndComing reports whether the body is small and on its way, so that reading it early holds
// little memory: its length is known and the client does not wait for 100 Continue.
func (u *Upload) SmallAndComing() bool {
	return u.r.ContentLength > 0 && u.r.ContentLength <= firstRead && u.r.Header.Get("Expect") == ""
}

// grow moves the body into a larger buffer. For a moment both exist, and both count.
func (u *Upload) grow(size int) error {
	old := u.buffer
	if err := u.Reserve(bufferSize(size)); err != nil {
		return err
	}
	u.buffer = append(takeBuffer(size), old...)
	if old != nil {
		u.config.Memory.Give(int64(cap(old)))
		u.held -= int64(cap(old))
		giveBuffer(old)
	}
	return nil
}

// Reserve counts n more bytes that are held with the body, such as a redacted copy of it. The error
// is 429 gateway_busy.
func (u *Upload) Reserve(n int) error {
	var leave int64
	if n > smallBody {
		leave = 1
	}
	if !u.config.Memory.TakeLeaving(leave, int64(n)) {
		e := apierror.New(apierror.GatewayBusy, "the gateway holds as many request bodies as it can; try again shortly")
		e.RefusedBy = "gateway: body_memory"
		return e
	}
	u.held += int64(n)
	return nil
}

// Handover gives up the buffer: release must be called once nothing reads the bytes any more. Its
// memory counts until Free or Close.
func (u *Upload) Handover() (release func()) {
	buffer, file := u.buffer, u.file
	u.buffer, u.file = nil, nil
	return func() {
		if file == nil || !file.mapped() {
			giveBuffer(buffer)
		}
		if file != nil {
			file.free()
		}
	}
}

// Free returns the memory, except for the bytes that are still kept.
func (u *Upload) Free(kept int64) {
	kept = min(kept, u.held)
	u.config.Memory.Give(u.held - kept)
	u.held = kept
}

// Close returns the buffer, unless it was handed over, and all memory.
func (u *Upload) Close() {
	u.Handover()()
	u.Free(0)
}

func (u *Upload) failure(err error) error {
	var limited *http.MaxBytesError
	switch {
	case errors.As(err, &limited): // a limit of the site's own
		e := apierror.New(apierror.RequestTooLarge, "the request body is larger than this site's limit of %d bytes", limited.Limit)
		e.RefusedBy = "site: request_body max_size " + strconv.FormatInt(limited.Limit, 10)
		return e
	case errors.Is(err, os.ErrDeadlineExceeded):
		e := apierror.New(apierror.RequestTimeout, "the request body did not arrive within %s", u.config.Timeout).WithCause(err)
		e.RefusedBy = "gateway: timeouts body " + u.config.Timeout.String()
		return e
	case u.r.Context().Err() != nil, errors.Is(err, io.ErrUnexpectedEOF):
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	}
	return apierror.New(apierror.InvalidJSON, "the request body could not be read").WithCause(err)
}

func tooLarge(size, limit int64) error {
	return apierror.New(apierror.RequestTooLarge, "the request body has %d bytes or more; the limit is %d bytes", size, limit)
}
