package framebuffer

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"math/bits"
)

// Clipboard is a message of the extended clipboard (the community's description of RFB). Zero means
// that there was none.
type Clipboard struct {
	Flags   uint32 // ClipboardText, ClipboardCaps and others
	MaxText uint32 // bytes of text that the server takes unasked; only in its caps
}

// Flags of the extended clipboard: a format, and what the message is.
const (
	ClipboardText    = 1 << 0
	ClipboardCaps    = 1 << 24
	ClipboardRequest = 1 << 25
	ClipboardPeek    = 1 << 26
	ClipboardNotify  = 1 << 27
	ClipboardProvide = 1 << 28
)

// cutText reads ServerCutText (RFC 6143, section 7.6.4), plain or extended. What the picture does not
// depend on cannot make it fail.
func (m *Message) cutText(in *input) {
	in.skip(3)
	n := int(int32(in.u32()))
	switch {
	case n > MaxText || n < -MaxText:
		in.skip(max(n, -n))
	case n < 0:
		m.extended(in.bytes(-n))
	default:
		m.Text = make([]byte, 0, n)
		for _, c := range in.bytes(n) { // Latin-1
			m.Text = append(m.Text, string(rune(c))...)
		}
	}
}

// extended reads flags and what they say: sizes of formats, or a zlib stream of each with its length.
func (m *Message) extended(p []byte) {
	if len(p) < 4 {
		return
	}
	flags, p := binary.BigEndian.Uint32(p), p[4:]
	m.Clipboard.Flags = flags
	if flags&ClipboardText == 0 {
		return
	}
	if flags&ClipboardCaps != 0 && len(p) >= 4*bits.OnesCount16(uint16(flags)) {
		m.Clipboard.MaxText = binary.BigEndian.Uint32(p)
	}
	if flags&ClipboardProvide != 0 {
		m.Text = provided(p)
	}
}

// provided is the text of a message that has one, without its last byte, which is zero.
func provided(p []byte) []byte {
	r, err := zlib.NewReader(bytes.NewReader(p))
	if err != nil {
		return nil
	}
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil || binary.BigEndian.Uint32(size[:]) > MaxText {
		return nil
	}
	text := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r, text); err != nil {
		return nil
	}
	return bytes.TrimSuffix(text, []byte{0})
}
