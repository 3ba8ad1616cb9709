package rfb

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"time"
)

// wire reads and writes whole steps of a handshake, never a byte more.
type wire struct {
	conn    net.Conn
	undue   error    // no deadline could be set, so nothing may be waited for
	scratch [24]byte // of the step that reads; ServerInit is the longest of a fixed length
}

// within gives the reads and writes that follow, together, d from now on.
func (w *wire) within(d time.Duration) { w.undue = w.conn.SetDeadline(time.Now().Add(d)) }

// rest takes the deadline off.
func (w *wire) rest() { w.undue = w.conn.SetDeadline(time.Time{}) }

// read returns the next n bytes, at most 24, valid until the next read.
func (w *wire) read(step string, n int) ([]byte, error) {
	b := w.scratch[:n]
	return b, w.readInto(step, b)
}

// readNew returns the next n bytes. n is bounded by the caller.
func (w *wire) readNew(step string, n int) ([]byte, error) {
	b := make([]byte, n)
	return b, w.readInto(step, b)
}

func (w *wire) readInto(step string, b []byte) error {
	err := w.undue
	if err == nil {
		_, err = io.ReadFull(w.conn, b)
	}
	if err != nil {
		return lost(step, err)
	}
	return nil
}

// readLast is read for the last thing a peer may send for now; early reports that a byte of more
// was there with it. That byte is lost.
func (w *wire) readLast(step string, n int) (b []byte, early bool, err error) {
	if err = w.undue; err == nil {
		var got int
		got, err = io.ReadAtLeast(w.conn, w.scratch[:n+1], n)
		early = got > n
	}
	if err != nil {
		return nil, false, lost(step, err)
	}
	return w.scratch[:n], early, nil
}

// readUint32 reads one number.
func (w *wire) readUint32(step string) (uint32, error) {
	b, err := w.read(step, 4)
	return binary.BigEndian.Uint32(b), err
}

// readText reads a length and that many bytes, at most limit.
func (w *wire) readText(step string, limit int) (string, error) {
	n, err := w.readUint32(step)
	if err != nil {
		return "", err
	}
	if n > uint32(limit) {
		return "", fail(KindTooLong, step, "%d bytes, more than %d", n, limit)
	}
	b, err := w.readNew(step, int(n))
	if err != nil {
		return "", err
	}
	return string(b), nil
}

func (w *wire) write(step string, b []byte) error {
	err := w.undue
	if err == nil {
		_, err = w.conn.Write(b)
	}
	if err != nil {
		return lost(step, err)
	}
	return nil
}

// readVersion reads the peer's version. Four bytes are enough to recognise most other protocols, so
// it checks them before it waits for more.
func (w *wire) readVersion(step string) (Version, error) {
	const begin, whole = 4, 12
	if _, err := w.read(step, begin); err != nil {
		return 0, err
	}
	if string(w.scratch[:begin]) != "RFB " {
		return 0, stranger(step, string(w.scratch[:begin]))
	}
	if err := w.readInto(step, w.scratch[begin:whole]); err != nil {
		return 0, err
	}
	return parseVersion(step, string(w.scratch[:whole]))
}

// stranger is the Kind of a peer that sends b where a version is expected.
func stranger(step, b string) error {
	if b[0] == recordHandshake && b[1] == recordMajor {
		return &Error{Kind: KindLateTLS, Step: step, Err: errors.New("a TLS record instead")}
	}
	for _, method := range []string{"GET ", "HEAD", "POST", "PUT ", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "PRI ", "HTTP"} {
		if strings.HasPrefix(method, b) {
			return &Error{Kind: KindHTTP, Step: step, Err: errors.New("HTTP instead")}
		}
	}
	return fail(KindGarbage, step, "it begins with %+q", b)
}

// parseVersion reads "RFB xxx.yyy\n" and says which version is spoken then.
func parseVersion(step, s string) (Version, error) {
	if s[7] != '.' || s[11] != '\n' {
		return 0, fail(KindGarbage, step, "%+q instead", s)
	}
	number := 0
	for _, c := range []byte(s[4:7] + s[8:11]) {
		if c < '0' || c > '9' {
			return 0, fail(KindGarbage, step, "%+q instead", s)
		}
		number = number*10 + int(c-'0')
	}
	switch {
	case number < 3_003:
		return 0, fail(KindVersion, step, "%+q is not spoken here", s[:11])
	case number < 3_007:
		return Version33, nil
	case number == 3_007:
		return Version37, nil
	}
	return Version38, nil
}
