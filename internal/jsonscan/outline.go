package jsonscan

import "bytes"

const (
	// maxOutlined is the longest string that an outline keeps, in bytes as written.
	maxOutlined = 4 << 10
	// MaxOutline bounds an outline, in bytes.
	MaxOutline = 1 << 20
)

// Outline is a JSON text that passes in pieces, without its long strings: they become empty. So what a
// text of any length says beside them can be read without holding it. It does not check the text, and is
// the same wherever the text was cut. The zero value is ready.
type Outline struct {
	text    []byte
	start   int  // of the string that is open
	open    bool // a string is
	escaped bool // the last byte was its backslash
	long    bool // it is not kept
	full    bool
}

// Add takes the next piece of the text.
func (o *Outline) Add(piece []byte) {
	for len(piece) > 0 && !o.full {
		n := 1
		switch {
		case o.escaped:
			o.escaped = false
		case o.open:
			n = plainPrefix(piece)
			if n == 0 {
				n, o.escaped = 1, piece[0] == '\\'
				if piece[0] == '"' {
					o.close()
				}
			}
		default:
			if n = bytes.IndexByte(piece, '"'); n < 0 {
				n = len(piece)
			} else if n == 0 {
				n, o.open, o.start = 1, true, len(o.text)
			}
		}
		o.keep(piece[:n])
		piece = piece[n:]
	}
}

// plainPrefix returns how many bytes of a string come before its next quote or backslash.
func plainPrefix(piece []byte) int {
	n := bytes.IndexByte(piece, '"')
	if n < 0 {
		n = len(piece)
	}
	if escape := bytes.IndexByte(piece[:n], '\\'); escape >= 0 {
		n = escape
	}
	return n
}

// close ends the open string, before its quote is kept.
func (o *Outline) close() { o.open, o.long = false, false }

func (o *Outline) keep(part []byte) {
	if o.long {
		return
	}
	if o.open && len(o.text)+len(part)-o.start > maxOutlined+1 {
		o.long, o.text = true, o.text[:o.start+1]
		return
	}
	if o.text = append(o.text, part...); len(o.text) > MaxOutline {
		o.text, o.full = nil, true
	}
}

// Text returns the outline, nil if it is longer than [MaxOutline].
func (o *Outline) Text() []byte { return o.text }
