package framebuffer

// Clone returns a Decoder that goes on from where d is, between two messages. It shares nothing that
// either changes: a rectangle's zlib data ends where a reader can stop, so that the last of what was
// inflated is all that a stream knows.
func (d *Decoder) Clone() *Decoder {
	c := &Decoder{canvas: d.canvas, next: d.next, refused: d.refused, mapped: d.mapped, cursor: d.cursor}
	c.in.err = d.in.err
	c.canvas.Pix = append([]byte(nil), d.canvas.Pix...)
	for _, p := range []*pixels{&c.next.whole, &c.next.compact, &c.next.tight} {
		if p.colours != nil {
			p.colours = &c.mapped
		}
	}
	for i := range d.streams {
		s := &d.streams[i]
		c.streams[i] = stream{begun: s.begun, past: append([]byte(nil), s.past[max(0, len(s.past)-window):]...)}
	}
	return c
}
