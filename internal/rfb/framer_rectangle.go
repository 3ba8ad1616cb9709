package rfb

import "encoding/binary"

// rectangle is one of an update.
type rectangle struct {
	w, h   int64
	bytes  int64 // of the pixels of Tight, not compressed
	length int64 // of compressed data, as far as it was read
	digits uint  // of the length: bits
	tile   int64 // of Hextile, the first is 0
	flags  byte  // of the tile
}

// form is what follows the head of a rectangle.
type form int

const (
	formRaw      form = iota + 1
	formCopy          // u16 x, y
	formRRE           // u32 n, background, n times colour and u16 x, y, w, h
	formCoRRE         // the same with u8
	formHextile       // tiles
	formTight         // control byte, …
	formTightPNG      // the same with PNG
	formLength        // u32 n, n bytes
	formH264          // u32 n, u32 flags, n bytes
	formCursor        // pixels, mask
	formXCursor       // two colours, two masks
	formAlpha         // s32 encoding, then 32-bit pixels
	formVMware        // u8 type, 1 pad, two masks or 32-bit pixels
	formScreens       // u8 n, 3 pad, n times 16 bytes
	formByte          // one byte
	formWord          // four bytes
	formEmpty         // nothing
	formLast          // nothing, and no rectangle follows
	formSetting       // it is no rectangle: the viewer says what it can, or wants
)

// forms are the encodings that a Framer can follow. The community's description of RFB has them all.
var forms = map[int32]form{
	EncodingRaw: formRaw, EncodingCopyRect: formCopy, EncodingRRE: formRRE, EncodingCoRRE: formCoRRE,
	EncodingHextile: formHextile, EncodingTight: formTight, EncodingTightPNG: formTightPNG, EncodingH264: formH264,
	EncodingZlib: formLength, EncodingZRLE: formLength, EncodingZYWRLE: formLength,
	EncodingCursor: formCursor, EncodingXCursor: formXCursor, EncodingAlpha: formAlpha, EncodingVMware: formVMware,
	EncodingSize: formEmpty, EncodingScreens: formScreens, EncodingLast: formLast,
	EncodingPointer: formEmpty, EncodingVMwareAt: formEmpty, EncodingName: formLength, EncodingXVP: formEmpty, EncodingVMwareLED: formWord,
	EncodingQEMUMove: formEmpty, EncodingQEMUKeys: formEmpty, EncodingQEMUAudio: formEmpty, EncodingQEMULEDs: formByte,
	EncodingButtons:      formEmpty,
	-312:                 formSetting, // fence
	-305:                 formSetting, // gii
	encContinuousUpdates: formSetting,
}

// formOf returns the form of an encoding, 0 for an unknown one.
func formOf(e int32) form {
	switch {
	case e == EncodingTight: // nearly all are
		return formTight
	case e >= encQuality0 && e <= encQuality9, e >= encCompress0 && e <= encCompress9,
		e >= -512 && e <= -412, e >= -768 && e <= -763: // TurboVNC's quality and subsampling
		return formSetting
	}
	return forms[e]
}

// rectangle handles the head of one.
func (f *Framer) rectangle(head []byte) {
	w, h := int64(binary.BigEndian.Uint16(head[4:])), int64(binary.BigEndian.Uint16(head[6:]))
	f.area = rectangle{w: w, h: h}
	pixel, row := f.layout.pixel(), (w+7)/8
	e := encoding(head[8:])
	if e == EncodingSize || e == EncodingScreens {
		f.pixels = w * h
	}
	switch formOf(e) {
	case formRaw:
		f.nextRectangle(w * h * pixel)
	case formCopy, formWord:
		f.nextRectangle(4)
	case formRRE:
		f.expect(4, func(f *Framer, head []byte) { f.subrectangles(head, 8) })
	case formCoRRE:
		f.expect(4, func(f *Framer, head []byte) { f.subrectangles(head, 4) })
	case formHextile:
		f.tiles()
	case formTight:
		f.expect(1, func(f *Framer, head []byte) { f.tight(head[0]>>4, TightJPEG) })
	case formTightPNG:
		f.expect(1, func(f *Framer, head []byte) { f.tight(head[0]>>4, tightPNG) })
	case formLength:
		f.expect(4, func(f *Framer, head []byte) { f.nextRectangle(int64(binary.BigEndian.Uint32(head))) })
	case formH264:
		f.expect(4, func(f *Framer, head []byte) { f.nextRectangle(4 + int64(binary.BigEndian.Uint32(head))) })
	case formCursor:
		f.nextRectangle(w*h*pixel + row*h)
	case formXCursor:
		if w*h == 0 {
			f.nextRectangle(0)
		} else {
			f.nextRectangle(6 + 2*row*h)
		}
	case formAlpha:
		f.expect(4, (*Framer).alpha)
	case formVMware:
		f.expect(2, (*Framer).vmware)
	case formScreens:
		f.expect(4, func(f *Framer, head []byte) { f.nextRectangle(16 * int64(head[0])) })
	case formByte:
		f.nextRectangle(1)
	case formEmpty:
		if e == EncodingButtons {
			f.shared.buttons.Store(true)
		}
		f.nextRectangle(0)
	case formLast:
		f.left = 1
		f.nextRectangle(0)
	default:
		f.fail("a rectangle of encoding %d, which the viewer was not let ask for", e)
	}
}

// subrectangles handles the number of RRE's, each of so many bytes besides its colour.
func (f *Framer) subrectangles(head []byte, bytes int64) {
	pixel := f.layout.pixel()
	f.nextRectangle(pixel + int64(binary.BigEndian.Uint32(head))*(pixel+bytes))
}

// alpha handles the encoding within a cursor with transparency. Servers use Raw.
func (f *Framer) alpha(head []byte) {
	if e := encoding(head); e != 0 {
		f.fail("a cursor of encoding %d", e)
		return
	}
	f.nextRectangle(4 * f.area.w * f.area.h)
}

func (f *Framer) vmware(head []byte) {
	switch head[0] {
	case 0:
		f.nextRectangle(2 * f.area.w * f.area.h * f.layout.pixel())
	case 1:
		f.nextRectangle(4 * f.area.w * f.area.h)
	default:
		f.fail("a cursor of VMware's type %d", head[0])
	}
}

// Hextile (RFC 6143, section 7.7.4): the side of a tile in pixels, and the flags of one.
const (
	TileSide = 16

	TileRaw        = 1
	TileBackground = 2
	TileForeground = 4
	TileSubrects   = 8
	TileColoured   = 16
)

// tiles has the next tile follow.
func (f *Framer) tiles() {
	a := &f.area
	if across := (a.w + TileSide - 1) / TileSide; a.tile >= across*((a.h+TileSide-1)/TileSide) {
		f.nextRectangle(0)
		return
	}
	f.expect(1, (*Framer).tile)
}

// tile handles the flags of one.
func (f *Framer) tile(head []byte) {
	a, pixel := &f.area, f.layout.pixel()
	across := (a.w + TileSide - 1) / TileSide
	w := min(TileSide, a.w-a.tile%across*TileSide)
	h := min(TileSide, a.h-a.tile/across*TileSide)
	a.tile++
	a.flags = head[0]
	if a.flags&TileRaw != 0 {
		f.tiles()
		f.skip += w * h * pixel
		return
	}
	colours := int64(0)
	if a.flags&TileBackground != 0 {
		colours += pixel
	}
	if a.flags&TileForeground != 0 {
		colours += pixel
	}
	if a.flags&TileSubrects == 0 {
		f.tiles()
		f.skip += colours
		return
	}
	f.expect(1, func(f *Framer, head []byte) {
		each := int64(2)
		if f.area.flags&TileColoured != 0 {
			each += f.layout.pixel()
		}
		f.tiles()
		f.skip += int64(head[0]) * each
	})
	f.skip = colours
}

// The upper half of Tight's control byte.
const (
	TightFilter = 4 // bit of a basic one: the filter follows
	TightFill   = 8
	TightJPEG   = 9
	tightPNG    = 10

	// libvncserver's and TurboVNC's, without PNG: basic, but its data is not compressed.
	TightStored       = 10
	tightStoredFilter = TightStored | TightFilter

	FilterCopy     = 0
	FilterPalette  = 1
	FilterGradient = 2

	// MinCompressed is the least number of bytes that Tight compresses; fewer have no length.
	MinCompressed = 12
)

// tight handles the control of a rectangle. picture is the control of one that is a JPEG, or a PNG.
func (f *Framer) tight(control, picture byte) {
	f.area.bytes = f.area.w * f.area.h * f.layout.tpixel()
	switch {
	case control == TightFill:
		f.nextRectangle(f.layout.tpixel())
	case control == TightJPEG, control == picture:
		f.expect(1, (*Framer).compactLength)
	case control < TightFill && control&TightFilter != 0, control == tightStoredFilter:
		f.expect(1, func(f *Framer, head []byte) {
			if head[0] == FilterPalette {
				f.expect(1, (*Framer).palette)
				return
			}
			f.tightData(0)
		})
	case control < TightFill, control == TightStored:
		f.tightData(0)
	default:
		f.fail("control %d of Tight", control)
	}
}

// palette handles the number of colours, less one.
func (f *Framer) palette(head []byte) {
	if head[0] < 2 { // a bit for each pixel
		f.area.bytes = (f.area.w + 7) / 8 * f.area.h
	} else {
		f.area.bytes = f.area.w * f.area.h
	}
	f.tightData((int64(head[0]) + 1) * f.layout.tpixel())
}

// tightData has the pixels follow, after a palette.
func (f *Framer) tightData(palette int64) {
	if f.area.bytes < MinCompressed {
		f.nextRectangle(palette + f.area.bytes)
		return
	}
	f.skip = palette
	f.expect(1, (*Framer).compactLength)
}

// compactLength handles a byte of a length: seven bits, and whether there is another, twice; then eight.
func (f *Framer) compactLength(head []byte) {
	a := &f.area
	const bits, last, more = 7, 14, 0x80
	if a.digits < last && head[0]&more != 0 {
		a.length |= int64(head[0]&^more) << a.digits
		a.digits += bits
		f.expect(1, (*Framer).compactLength)
		return
	}
	f.nextRectangle(a.length | int64(head[0])<<a.digits)
}
