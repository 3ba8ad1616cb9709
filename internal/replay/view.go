package replay

import (
	"encoding/binary"
	"image"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// view is what a viewer has of a picture, and how it gets the rest.
type view struct {
	encoder encoder
	size    image.Point
	damage  image.Rectangle // what it has not
	all     bool            // it has nothing
	pointer image.Rectangle // where it sees it
	shape   bool            // the pointer has another
}

func newView(init rfb.Init) view {
	return view{size: image.Pt(int(init.Width), int(init.Height)), all: true}
}

// changed notes what a message has changed.
func (v *view) changed(m framebuffer.Message) {
	v.damage = v.damage.Union(m.Damage)
	v.shape = v.shape || m.Cursor
}

// update appends an update with what the viewer has not, and with a name for the desktop unless it is "".
// A new size comes alone: the picture is in the next update. Without either it appends nothing.
func (v *view) update(dst []byte, f frame, name string) []byte {
	var strips []image.Rectangle
	size := image.Pt(f.Width, f.Height)
	resized := size != v.size
	if resized {
		v.size, v.all = size, true
	} else {
		strips = v.missing(f)
	}
	n := len(strips)
	if name != "" {
		n++
	}
	if resized {
		n++
	}
	if n == 0 {
		return dst
	}
	dst = head(dst, n)
	if name != "" {
		dst = appendName(dst, name)
	}
	if resized { // the last one: viewers make a new picture of it
		return rectangleHead(dst, image.Rectangle{Max: size}, rfb.EncodingSize)
	}
	for _, strip := range strips {
		dst = v.encoder.rectangle(dst, f, strip)
	}
	return dst
}

// appendName appends a rectangle with the desktop's name.
func appendName(dst []byte, name string) []byte {
	dst = rectangleHead(dst, image.Rectangle{}, rfb.EncodingName)
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(name))), name...)
}

// missing are the strips that the viewer has not, which it has from then on.
func (v *view) missing(f frame) (strips []image.Rectangle) {
	var pointer image.Rectangle
	if f.pointer != nil {
		pointer = f.pointer.Rect
	}
	areas := []image.Rectangle{v.damage}
	if v.shape || pointer != v.pointer {
		areas = append(areas, v.pointer, pointer)
	}
	if v.all {
		areas = []image.Rectangle{{Max: v.size}}
	}
	v.damage, v.all, v.shape, v.pointer = image.Rectangle{}, false, false, pointer
	for _, area := range areas {
		strips = appendStrips(strips, area.Intersect(image.Rectangle{Max: v.size}))
	}
	return strips
}
