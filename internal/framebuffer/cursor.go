package framebuffer

import "image"

// Cursor is the pointer's, which is not part of the picture if the viewer asked for its shape.
type Cursor struct {
	Shape  *image.RGBA // with transparency; nil if the server sent none, empty if there is none to show
	Hot    image.Point // of the shape, at the pointer's place
	At     image.Point // where the pointer is
	Placed bool        // the server has said where; it does so when others move the pointer
}

// Cursor returns what the server said of it.
func (d *Decoder) Cursor() Cursor { return d.cursor }
