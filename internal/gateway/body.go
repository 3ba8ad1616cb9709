package gateway

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

const (
	// MaxBody is the largest request body, in bytes (32 MiB, what the
	// largest providers accept).
	MaxBody = 32 << 20

	// MaxMaxBody bounds what the limit of a key or a model can be, in bytes.
	MaxMaxBody = 256 << 20

	// firstRead bounds what a Content-Length alone can make us allocate.
	firstRead = 256 << 10

	// After a refusal a valid key's upload is read and thrown away within
	// these bounds, so that the client reads the answer instead of seeing
	// its connection break.
	drainBytes = 64 << 20
	drainTime  = 5 * time.Second
)

// ReadBody reads the request's body whole into one buffer, which is valid until
// Send or Finish. Memory is taken as bytes arrive, at most four times what has
// come: what Content-Length says counts only within the first 256 KiB and as a bound.
func (c *Call) ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if c.read {
		return c.buffer, nil
	}
	switch encoding := r.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
	default:
		return nil, apierror.New(apierror.UnsupportedEncoding, "the request body is encoded as %q; send it plain", encoding)
	}
	most := c.maxBody()
	if r.ContentLength > most {
		return nil, tooLarge(r.ContentLength, most)
	}
	// One byte more, so that the end is seen without growing.
	if err := c.grow(int(min(max(r.ContentLength, 0), firstRead)) + 1); err != nil {
		return nil, err
	}
	c.beginReading(http.NewResponseController(w))
	defer c.endReading()
	for {
		n, err := r.Body.Read(c.buffer[len(c.buffer):cap(c.buffer)])
		c.buffer = c.buffer[:len(c.buffer)+n]
		if int64(len(c.buffer)) > most {
			return nil, tooLarge(int64(len(c.buffer)), most)
		}
		switch {
		case err == io.EOF:
			c.read = true
			return c.buffer, nil
		case err != nil:
			return nil, c.readFailure(r, err)
		}
		if len(c.buffer) == cap(c.buffer) {
			if err := c.grow(nextSize(cap(c.buffer), r.ContentLength, most)); err != nil {
				return nil, err
			}
		}
	}
}

// nextSize is the size that follows a full buffer: four times as large, or, if
// that is half of it or more, what holds the announced body, or any body, and
// one byte more: the last growth copies most and must not be done twice.
func nextSize(full int, announced, most int64) int {
	last := int(most) + 1
	if announced >= int64(full) {
		last = int(announced) + 1
	}
	if size := 4 * full; size < last/2 {
		return size
	}
	return last
}

// beginReading lets the body's timeout run. A timer that interrupts the read is
// a third of the price of a deadline that is set and taken back for every body.
func (c *Call) beginReading(control *http.ResponseController) {
	c.reading = control
	c.await(c.gateway.timeouts.Body)
}

func (c *Call) endReading() {
	c.arrived()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late { // the next request on the connection has its own time
		_ = c.reading.SetReadDeadline(time.Time{})
	}
	c.reading = nil
}

// await lets the one timer of the call run for what is waited for now, the
// client's upload or the provider; arrived stops it.
func (c *Call) await(most time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Now().Add(most)
	if c.watch == nil {
		c.watch = time.AfterFunc(most, c.expire)
		return
	}
	c.watch.Reset(most)
}

func (c *Call) arrived() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Time{}
	c.watch.Stop()
}

// expire runs on the timer's goroutine: what is waited for has taken too long,
// unless it has arrived since the timer fired.
func (c *Call) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.until.IsZero() || time.Now().Before(c.until):
	case c.reading != nil:
		c.interruptReading()
	case c.silent != nil:
		c.silent(errSilent)
	}
}

// interruptReading is called with mu held. A server that cannot set deadlines (a
// test's recorder) reads on.
func (c *Call) interruptReading() {
	c.late = c.reading.SetReadDeadline(c.gateway.now()) == nil
}

// readAhead reads a small body while the call waits for its places: net/http
// looks out for an HTTP/1 client that leaves only once the body has been read,
// and who has left must not stand in a queue. It is the queue that bounds what
// is held so, hence a body that is large, of unknown length, or held back until it
// is asked for is read later.
func (c *Call) readAhead(w http.ResponseWriter, r *http.Request, permit *limits.Permit) error {
	if r.ProtoMajor != 1 || r.ContentLength <= 0 || r.ContentLength > firstRead || r.Header.Get("Expect") != "" {
		return nil
	}
	turnAway := time.AfterFunc(permit.TimeLeft(), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if permit.TimeOut() && c.reading != nil {
			c.interruptReading()
		}
	})
	defer turnAway.Stop()
	if _, err := c.ReadBody(w, r); err != nil && permit.Refused() == nil {
		return err
	}
	return nil
}

// grow moves what was read into a buffer of this size. For a moment both
// exist, and both count.
func (c *Call) grow(size int) error {
	old := c.buffer
	if !c.takeMemory(bufferSize(size)) {
		return busy()
	}
	c.buffer = append(takeBuffer(size), old...)
	if old != nil {
		c.gateway.state.Memory.Give(int64(cap(old)))
		c.held -= int64(cap(old))
		giveBuffer(old)
	}
	return nil
}

func (c *Call) takeMemory(n int) bool {
	if !c.gateway.state.Memory.Take(int64(n)) {
		return false
	}
	c.held += int64(n)
	return true
}

// giveMemory returns what is held, but for what is kept.
func (c *Call) giveMemory(kept int64) {
	kept = min(kept, c.held)
	c.gateway.state.Memory.Give(c.held - kept)
	c.held = kept
}

func (c *Call) readFailure(r *http.Request, err error) error {
	var limited *http.MaxBytesError
	switch {
	case errors.As(err, &limited): // a limit of the site's own
		return apierror.New(apierror.RequestTooLarge, "the request body is larger than this site's limit of %d bytes", limited.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return apierror.New(apierror.RequestTimeout, "the request body did not arrive within %s", c.gateway.timeouts.Body).WithCause(err)
	case r.Context().Err() != nil, errors.Is(err, io.ErrUnexpectedEOF):
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	}
	return apierror.New(apierror.InvalidJSON, "the request body could not be read").WithCause(err)
}

// maxBody is the most that is read for the call's key, in bytes.
func (c *Call) maxBody() int64 {
	if k := c.gateway.limits.of(c.Credential.Name); k != nil && k.Caps.Body > 0 {
		return k.Caps.Body
	}
	return c.gateway.limits.readable
}

// admitSize holds the body that was read to the limit of its model.
func (c *Call) admitSize() error {
	most := c.quota.caps.Body
	if most == 0 {
		most = MaxBody
	}
	if size := int64(len(c.buffer)); size > most {
		return apierror.New(apierror.RequestTooLarge, "the request body has %d bytes; the limit of the model %q is %d bytes", size, c.asked, most)
	}
	return nil
}

func tooLarge(size, limit int64) error {
	return apierror.New(apierror.RequestTooLarge, "the request body has %d bytes or more; the limit is %d bytes", size, limit)
}

func busy() error {
	return apierror.New(apierror.GatewayBusy, "the gateway holds as many request bodies as it can; try again shortly")
}

// RefuseUpload is to be called before a refusal is written to a request whose
// body was not read to its end: it lets the refusal out before the upload ends.
//
// net/http reads what is left of a body, up to a bound and with no deadline,
// before it sends the header of an answer, unless the connection is to be
// closed. So that happens within drainTime here, and not at all for a body that
// is larger, of unknown length, or held back until it is asked for: its client
// would wait for us and we for it.
func (g *Gateway) RefuseUpload(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(g.now().Add(drainTime))
	if r.ProtoMajor == 1 && (r.ContentLength < 0 || r.ContentLength > firstRead || r.Header.Get("Expect") != "") {
		w.Header().Set("Connection", "close")
	}
}

// HasRead tells whether the request's body was read to its end.
func (c *Call) HasRead() bool { return c.read }

// Drain sends the refusal that was written to w and throws away what is left
// of the upload.
func (c *Call) Drain(w http.ResponseWriter, r *http.Request) {
	if c.read || r.ContentLength == 0 || r.Header.Get("Expect") != "" { // who waits for 100 Continue sends nothing now
		return
	}
	control := http.NewResponseController(w)
	if control.Flush() != nil || control.SetReadDeadline(c.gateway.now().Add(drainTime)) != nil {
		return // without a deadline a slow sender would hold us
	}
	if _, err := io.CopyN(io.Discard, r.Body, drainBytes); errors.Is(err, io.EOF) {
		_ = control.SetReadDeadline(time.Time{}) // else net/http, which reads on, would wait for ever
	}
}
