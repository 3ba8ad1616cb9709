package framebuffer

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

// cutText reads ServerCutText (RFC 6143, section 7.6.4).
func (d *Decoder) cutText(m *Message) error {
	d.in.skip(3)
	n := int(int32(d.in.u32()))
	if n < 0 || n > MaxText {
		d.in.skip(max(n, -n))
		return nil
	}
	m.Text = make([]byte, 0, n)
	for _, c := range d.in.bytes(n) { // Latin-1
		m.Text = append(m.Text, string(rune(c))...)
	}
	return nil
}
