// Package recording keeps what a desktop session showed: the workstation's bytes with their times, in
// a file that only the holder of a private key can read.
//
//	format   the file, drawn below
//	chunks   its parts
//	writer   writes one, by a queue that hardly waits for the disk
//	reader   reads one, also one that a crash has cut short
//
// # The file
//
//	6       "GHREC1"
//	u32     n
//	n       an age file (C2SP age, version 1) for the recipients: 32 bytes of key, the header as JSON
//	        chunks, each
//	u32       n, and in the highest bit whether it is the last
//	n         frames, sealed with AES-256-GCM by that key; the nonce is the chunk's number, from 0, in
//	          11 bytes, and 1 or 0 for the last or another
//
// The frames of all chunks follow each other; a chunk has whole ones:
//
//	u8      kind
//	uvarint microseconds since the frame before, or since the session began
//	uvarint n
//	n       data, see the kinds
//
// Numbers are big endian, uvarints those of [encoding/binary].
//
// The body is not one age stream, because age seals 64 KiB at a time: a quiet session fills them in
// minutes, and a crash would lose those. Nor is it an age file a second: each costs 200 bytes and an
// agreement of keys, and nothing ties them together. So age seals one key, and the chunks are the
// STREAM construction that age uses too, with a length for each. A quiet second costs nothing, another
// one 20 bytes; a chunk that was changed, left out, moved or cut off is found. Who can read files can
// also make them: neither age nor this says who has written one.
package recording

import (
	"encoding/binary"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const (
	magic   = "GHREC1"
	keySize = 32

	lastChunk = 1 << 31 // in a chunk's length

	// maxHead bounds the age file: a header and the key for some dozens of recipients.
	maxHead = 128 << 10
	// maxChunk bounds the frames of a chunk.
	maxChunk = maxQueue + 64<<10
	// maxMark bounds the text of a mark.
	maxMark = 1 << 10
)

// Kinds of frames.
const (
	KindServer    = 1 + iota // bytes of the workstation from its first after ServerInit, cut anywhere
	KindFormat               // SetPixelFormat as it was sent: PIXEL_FORMAT (RFC 6143, 7.4), 16 bytes
	KindEncodings            // SetEncodings as it was sent: s32 each
	KindPointer              // PointerEvent: u8 buttons, u16 x, u16 y
	KindKey                  // KeyEvent: u8 whether it is down, u32 keysym
	KindMark                 // a Mark as JSON
	KindEnd                  // an End as JSON; no frame follows
)

// Header says whose session it was.
type Header struct {
	Session     string    `json:"session"`
	Tenant      string    `json:"tenant"`
	Workstation string    `json:"workstation"`
	Key         string    `json:"key"`
	User        string    `json:"user,omitempty"`
	Role        string    `json:"role,omitempty"` // as in the session's row
	Node        string    `json:"node,omitempty"` // of the cluster
	Begun       time.Time `json:"begun"`
	Security    string    `json:"security"` // how the viewer showed its token
	Init        rfb.Init  `json:"init"`     // the workstation's ServerInit
}

// Frame is one frame.
type Frame struct {
	Kind uint8
	At   time.Duration // since Header.Begun
	Data []byte
}

// Mark is a moment that a viewer of the recording may want to find.
type Mark struct {
	Kind string `json:"kind"` // "takeover" of the input by a person, "action" of an agent
	Text string `json:"text,omitempty"`
}

// End is how a session ended.
type End struct {
	Reason string `json:"reason"`
	Bytes  int64  `json:"bytes"` // of the workstation
}

func appendFrame(dst []byte, kind uint8, delta time.Duration, data []byte) []byte {
	dst = binary.AppendUvarint(append(dst, kind), uint64(max(delta, 0)/time.Microsecond))
	return append(binary.AppendUvarint(dst, uint64(len(data))), data...)
}
