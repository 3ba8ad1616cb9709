package activity

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// ErrBadCursor is returned for a cursor that Query did not make.
var ErrBadCursor = errors.New("bad cursor")

// cursor is the position after a record in the order of Query; the zero value is none. Its text is
// unpadded URL-safe base64 of
//
//	1 byte version | 8 bytes created_at, nanoseconds, big-endian | 8 bytes seq, big-endian
//
// It names no tenant: Query applies its own, so another tenant's cursor is only a point in time.
type cursor struct{ created, seq int64 }

const (
	cursorVersion = 1
	cursorBytes   = 17
)

// cursorEncoding is strict, so that a position has exactly one text.
var cursorEncoding = base64.RawURLEncoding.Strict()

func (c cursor) String() string {
	b := make([]byte, 0, cursorBytes)
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(c.created))
	b = binary.BigEndian.AppendUint64(b, uint64(c.seq))
	return cursorEncoding.EncodeToString(b)
}

func parseCursor(s string) (cursor, error) {
	if len(s) != cursorEncoding.EncodedLen(cursorBytes) {
		return cursor{}, ErrBadCursor
	}
	b, err := cursorEncoding.DecodeString(s)
	if err != nil || len(b) != cursorBytes || b[0] != cursorVersion { // the decoder skips line ends
		return cursor{}, ErrBadCursor
	}
	c := cursor{created: int64(binary.BigEndian.Uint64(b[1:9])), seq: int64(binary.BigEndian.Uint64(b[9:]))}
	if c.created < 0 || c.seq < 1 {
		return cursor{}, ErrBadCursor
	}
	return c, nil
}

func (c cursor) compare(d cursor) int {
	return cmp.Or(cmp.Compare(c.created, d.created), cmp.Compare(c.seq, d.seq))
}
