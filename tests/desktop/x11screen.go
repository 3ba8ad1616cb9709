//go:build linux

package desktop

import (
	"fmt"
	"image"
	"image/color"
	"unicode/utf16"
)

const (
	attributeBackgroundPixmap = 1 << 0
	attributeEventMask        = 1 << 11
	gcForeground              = 1 << 2
	gcBackground              = 1 << 3
	gcFont                    = 1 << 14
	zPixmap                   = 2
	anyPropertyType           = 0
)

// pixel is a colour as a 24-bit TrueColor screen keeps it.
func pixel(c color.RGBA) uint32 { return uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B) }

// wallpaper is the background of a window: behind all other windows of a display if that is its root.
// The server repaints it itself.
type wallpaper struct {
	x                  *Screen
	window, pixmap, gc uint32
}

// newWallpaper makes one that is black until painted.
func newWallpaper(x *Screen, window uint32) (*wallpaper, error) {
	w := &wallpaper{x: x, window: window, pixmap: x.id(), gc: x.id()}
	font := x.id()
	const name = "fixed" // every X server has it built in
	return w, x.do(
		request(opCreatePixmap, x.depth, w.pixmap, window, pair(x.width, x.height)),
		sized(append(request(opOpenFont, 0, font, uint32(len(name))), name...)),
		request(opCreateGC, 0, w.gc, w.pixmap, gcForeground|gcFont, 0, font),
		w.rectangle(image.Rect(0, 0, x.width, x.height)),
		request(opChangeWindowAttributes, 0, window, attributeBackgroundPixmap, w.pixmap),
		w.show(image.Rectangle{}))
}

// paint fills an area.
func (w *wallpaper) paint(a Area) error {
	return w.x.do(request(opChangeGC, 0, w.gc, gcForeground, pixel(a.Colour)), w.rectangle(a.Where), w.show(a.Where))
}

func (w *wallpaper) rectangle(r image.Rectangle) []byte {
	return request(opPolyFillRectangle, 0, w.pixmap, w.gc, pair(r.Min.X, r.Min.Y), pair(r.Dx(), r.Dy()))
}

// write puts text into an area of one colour, from its left edge on. What the font lacks is a box.
func (w *wallpaper) write(text string, in Area) error {
	if err := w.paint(in); err != nil {
		return err
	}
	const margin, baseline, most = 6, 9, 100 // of a font of 6 by 13 pixels
	chars := utf16.Encode([]rune(text))
	chars = chars[max(0, len(chars)-min(most, in.Where.Dx()/6-2)):]
	at := pair(in.Where.Min.X+margin, (in.Where.Min.Y+in.Where.Max.Y+baseline)/2)
	line := request(opImageText16, byte(len(chars)), w.pixmap, w.gc, at)
	for _, c := range chars {
		line = append(line, byte(c>>8), byte(c))
	}
	return w.x.do(request(opChangeGC, 0, w.gc, gcForeground|gcBackground, 0, pixel(in.Colour)), sized(line), w.show(in.Where))
}

// show copies r of the pixmap to the screen; an empty r means all.
func (w *wallpaper) show(r image.Rectangle) []byte {
	return request(opClearArea, 0, w.window, pair(r.Min.X, r.Min.Y), pair(r.Dx(), r.Dy()))
}

// selectInput subscribes to the events of mask that no window takes.
func (x *Screen) selectInput(mask uint32) error {
	return x.do(request(opChangeWindowAttributes, 0, x.Root, attributeEventMask, mask))
}

// Picture is what a person sees on a display, without the pointer.
func (x *Screen) Picture() (*image.RGBA, error) { return x.pictureOf(x.Root) }

// pictureOf is that of one window as large as the display.
func (x *Screen) pictureOf(window uint32) (*image.RGBA, error) {
	m, err := x.ask(request(opGetImage, zPixmap, window, 0, pair(x.width, x.height), ^uint32(0)))
	if err != nil {
		return nil, err
	}
	img := image.NewRGBA(image.Rect(0, 0, x.width, x.height))
	if m = m[32:]; len(m) != len(img.Pix) {
		return nil, fmt.Errorf("a picture of %d bytes for %d x %d: not 32 bits a pixel", len(m), x.width, x.height)
	}
	for i := 0; i < len(m); i += 4 {
		img.Pix[i], img.Pix[i+1], img.Pix[i+2], img.Pix[i+3] = m[i+2], m[i+1], m[i], 0xff
	}
	return img, nil
}

// extension is the opcode of one.
func (x *Screen) extension(name string) (opcode byte, err error) {
	m, err := x.ask(sized(append(request(opQueryExtension, 0, uint32(len(name))), name...)))
	if err == nil && m[8] == 0 {
		err = fmt.Errorf("the X server has no %s", name)
	}
	if err != nil {
		return 0, err
	}
	return m[9], nil
}

// Resize gives the display another of its sizes ("X Resize, Rotate and Reflect Extension", version 1.1):
//
//	screen info  … timestamp u32 at 12, configuration u32 at 16, sizes u16 at 20, …; then of each size
//	             width u16, height u16, 4 bytes
func (x *Screen) Resize(size image.Point) error {
	const queryVersion, setScreenConfig, getScreenInfo, upright = 0, 2, 5, 1
	randr, err := x.extension("RANDR")
	if err != nil {
		return err
	}
	if _, err = x.ask(request(randr, queryVersion, 1, 1)); err != nil {
		return err
	}
	m, err := x.ask(request(randr, getScreenInfo, x.Root))
	if err != nil {
		return err
	}
	sizes := m[32:]
	for i := range int(le.Uint16(m[20:])) {
		if 8*i+4 > len(sizes) || pair(size.X, size.Y) != le.Uint32(sizes[8*i:]) {
			continue
		}
		m, err = x.ask(request(randr, setScreenConfig, x.Root, le.Uint32(m[12:]), le.Uint32(m[16:]), pair(i, upright), 0))
		if err == nil && m[1] != 0 {
			err = fmt.Errorf("another size is refused with %d", m[1])
		}
		x.width, x.height = size.X, size.Y
		return err
	}
	return fmt.Errorf("the display has no size %v", size)
}

// atom is the number of a name.
func (x *Screen) atom(name string) (uint32, error) {
	b := append(request(opInternAtom, 0, uint32(len(name))), name...)
	m, err := x.ask(sized(b))
	if err != nil {
		return 0, err
	}
	return le.Uint32(m[8:]), nil
}

// Property is a window's property of any type; it is empty if there is none.
func (x *Screen) Property(window uint32, name string) ([]byte, error) {
	atom, err := x.atom(name)
	if err != nil {
		return nil, err
	}
	const units = 64 << 10 // at most
	m, err := x.ask(request(opGetProperty, 0, window, atom, anyPropertyType, 0, units))
	if err != nil {
		return nil, err
	}
	size := int(le.Uint32(m[16:])) * int(m[1]) / 8
	if size > len(m)-32 {
		return nil, fmt.Errorf("property %s has %d bytes, it said %d", name, len(m)-32, size)
	}
	return m[32 : 32+size], nil
}

// Windows are the titles of the windows that the window manager shows, oldest first.
func (x *Screen) Windows() (titles []string, err error) {
	list, err := x.Property(x.Root, "_NET_CLIENT_LIST")
	if err != nil {
		return nil, err
	}
	for ; len(list) >= 4; list = list[4:] {
		title, err := x.Property(le.Uint32(list), "WM_NAME")
		if err != nil {
			continue // it was closed in between
		}
		titles = append(titles, string(title))
	}
	return titles, nil
}

// Focused is the title of the window that has the keyboard.
func (x *Screen) Focused() (string, error) {
	active, err := x.Property(x.Root, "_NET_ACTIVE_WINDOW")
	if err != nil || len(active) < 4 {
		return "", err
	}
	title, err := x.Property(le.Uint32(active), "WM_NAME")
	return string(title), err
}
