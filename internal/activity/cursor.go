package activity

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// ErrBadCursor is returned for a cursor that Query did not make.
var ErrBadCursor = errors.New("bad cursor")

// Cursor is the position after a record in the order of Query; the zero value is none. Its text is
// unpadded URL-safe base64 of
//
//	1 byte version | 8 bytes created_at, nanoseconds, big-endian | 8 bytes seq, big-endian
//
// It names no tenant: Query applies its own, so another tenant's cursor is only a point in time.
type Cursor struct{ Created, Seq int64 }

const (
	cursorVersion = 1
	cursorBytes   = 17
)

// cursorEncoding is strict, so that a position has exactly one text.
var cursorEncoding = base64.RawURLEncoding.Strict()

func (c Cursor) String() string {
	b := make([]byte, 0, cursorBytes)
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(c.Created))
	b = binary.BigEndian.AppendUint64(b, uint64(c.Seq))
	return cursorEncoding.EncodeToString(b)
}

func parseCursor(s string) (Cursor, error) {
	if len(s) != cursorEncoding.EncodedLen(cursorBytes) {
		return Cursor{}, ErrBadCursor
	}
	b, err := cursorEncoding.DecodeString(s)
	if err != nil || len(b) != cursorBytes || b[0] != cursorVersion { // the decoder skips line ends
		return Cursor{}, ErrBadCursor
	}
	c := Cursor{Created: int64(binary.BigEndian.Uint64(b[1:9])), Seq: int64(binary.BigEndian.Uint64(b[9:]))}
	if c.Created < 0 || c.Seq < 1 {
		return Cursor{}, ErrBadCursor
	}
	return c, nil
}

func (c Cursor) Compare(d Cursor) int {
	return cmp.Or(cmp.Compare(c.Created, d.Created), cmp.Compare(c.Seq, d.Seq))
}
