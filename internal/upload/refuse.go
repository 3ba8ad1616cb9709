package upload

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// After a refusal a valid key's upload is read and thrown away within these bounds, so that the
// client reads the answer instead of seeing its connection break.
const (
	drainBytes = 64 << 20
	drainTime  = 5 * time.Second
)

// PrepareRefusal must be called before an error is written to a request whose body was not read to
// its end, so that the error is sent before the upload ends.
//
// net/http reads the rest of a body, up to a bound and without a deadline, before it sends the header
// of an answer, unless the connection will be closed. So here a deadline is set, and the connection
// is closed if the body is larger, of unknown length, or held back for 100 Continue: its client would
// wait for us and we for it.
func PrepareRefusal(w http.ResponseWriter, r *http.Request, now time.Time) {
	if r.ContentLength == 0 {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(now.Add(drainTime))
	if r.ProtoMajor == 1 && (r.ContentLength < 0 || r.ContentLength > firstRead || r.Header.Get("Expect") != "") {
		w.Header().Set("Connection", "close")
	}
}

// Drain sends the refusal that was written and throws away the rest of the upload.
func (u *Upload) Drain() {
	if u.complete || u.r.ContentLength == 0 || u.r.Header.Get("Expect") != "" { // a client that waits for 100 Continue sends nothing now
		return
	}
	control := http.NewResponseController(u.w)
	if control.Flush() != nil || control.SetReadDeadline(u.config.Now().Add(drainTime)) != nil {
		return // without a deadline a slow sender would hold us
	}
	if _, err := io.CopyN(io.Discard, u.r.Body, drainBytes); errors.Is(err, io.EOF) {
		_ = control.SetReadDeadline(time.Time{}) // net/http reads on and would wait without end
	}
}
