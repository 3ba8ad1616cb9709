package activity

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// ErrBadCursor is returned for a cursor that Query did not make.
var ErrBadCursor = errors.New("bad cursor")

// cursor is the place after a record in the order of Query. As text it is unpadded URL-safe base64 of
//
//	1 byte version | 8 bytes created_at, nanoseconds, big-endian | id
//
// It names no tenant: Query applies its own, so a stranger's cursor is only a point in time.
type cursor struct {
	created int64
	id      string
}

const cursorVersion = 1

// cursorEncoding is strict, so that a place has exactly one text.
var cursorEncoding = base64.RawURLEncoding.Strict()

// maxCursor is the text of a cursor with the longest id.
var maxCursor = cursorEncoding.EncodedLen(9 + maxText)

func (c cursor) String() string {
	b := make([]byte, 0, 9+len(c.id))
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint64(b, uint64(c.created))
	return cursorEncoding.EncodeToString(append(b, c.id...))
}

func parseCursor(s string) (cursor, error) {
	if len(s) > maxCursor {
		return cursor{}, ErrBadCursor
	}
	b, err := cursorEncoding.DecodeString(s)
	if err != nil || len(b) < 9 || b[0] != cursorVersion {
		return cursor{}, ErrBadCursor
	}
	c := cursor{created: int64(binary.BigEndian.Uint64(b[1:9])), id: string(b[9:])}
	if c.created < 0 || c.String() != s { // the decoder skips line ends
		return cursor{}, ErrBadCursor
	}
	return c, nil
}
