package testcard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math/bits"
)

// The handshake (RFC 6143, section 7.1 to 7.3), RFB 3.8 with security type None:
//
//	card                                viewer
//	"RFB 003.008\n"                ->
//	                               <-   "RFB 003.008\n"
//	u8 1, u8 1 (None)              ->
//	                               <-   u8 1
//	u32 0 (SecurityResult, ok)     ->
//	                               <-   u8 shared (there is nobody to share with)
//	ServerInit                     ->
//
//	ServerInit   u16 width, u16 height, pixel format (16 bytes), u32 length, name
const version = "RFB 003.008\n"

func greet(conn io.ReadWriter, name string) error {
	for _, step := range []struct{ say, want, wrong string }{
		{version, version, "the viewer's version is %q"},
		{"\x01\x01", "\x01", "the viewer chose security type %q"},
	} {
		heard := make([]byte, len(step.want))
		if err := exchange(conn, step.say, heard); err != nil {
			return err
		}
		if string(heard) != step.want {
			return fmt.Errorf(step.wrong+", want %q", heard, step.want)
		}
	}
	if err := exchange(conn, "\x00\x00\x00\x00", make([]byte, 1)); err != nil {
		return err
	}
	init := binary.BigEndian.AppendUint16(nil, width)
	init = append(binary.BigEndian.AppendUint16(init, height), initialPixels...)
	init = binary.BigEndian.AppendUint32(init, uint32(len(name)))
	return exchange(conn, string(init)+name, nil)
}

func exchange(conn io.ReadWriter, say string, hear []byte) error {
	if _, err := io.WriteString(conn, say); err != nil {
		return errGone
	}
	return readFull(conn, hear)
}

// Messages of viewers (RFC 6143, section 7.5). Any other type ends the connection, for its length is
// not known: viewers send those of extensions only to a server that has named the extension.
//
//	0  SetPixelFormat            3 bytes, pixel format
//	2  SetEncodings              1 byte, u16 n, n × s32
//	3  FramebufferUpdateRequest  u8 incremental, u16 x, u16 y, u16 width, u16 height
//	4  KeyEvent                  u8 down, 2 bytes, u32 keysym
//	5  PointerEvent              u8 buttons, u16 x, u16 y
//	6  ClientCutText             3 bytes, s32 n, |n| bytes (n < 0: extended clipboard)
const (
	setPixelFormat = 0
	setEncodings   = 2
	updateRequest  = 3
	keyEvent       = 4
	pointerEvent   = 5
	cutText        = 6
	maxCutText     = 1 << 20 // bytes, passed over without keeping them
)

// heads are the lengths of the fixed parts, without the type.
var heads = map[byte]int{
	setPixelFormat: 19, setEncodings: 3, updateRequest: 9, keyEvent: 7, pointerEvent: 5, cutText: 7,
}

// read takes the viewer's messages until the connection ends or one is wrong.
func (s *session) read(r *bufio.Reader) error {
	for {
		kind, err := r.ReadByte()
		if err != nil {
			return errGone
		}
		n, known := heads[kind]
		if !known {
			return fmt.Errorf("message of unknown type %d", kind)
		}
		head := make([]byte, n)
		if err := readFull(r, head); err != nil {
			return err
		}
		rest, err := s.message(kind, head)
		if err != nil {
			return err
		}
		if _, err := r.Discard(rest); err != nil {
			return errGone
		}
	}
}

// message acts on the head of a message, and returns the length of its body, which has no meaning
// here.
func (s *session) message(kind byte, head []byte) (rest int, err error) {
	at := func(i int) int { return int(binary.BigEndian.Uint16(head[i:])) }
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case setPixelFormat:
		s.format, err = readPixelFormat(head[3:])
	case setEncodings: // Raw is always allowed
		rest = 4 * at(1)
	case updateRequest:
		area := image.Rect(at(1), at(3), at(1)+at(5), at(3)+at(7)).Intersect(screen)
		if incremental := head[0] != 0; !incremental {
			s.dirty[anything] = s.dirty[anything].Union(area)
		}
		s.asked = s.asked.Union(area)
		s.signal()
	case pointerEvent:
		s.now.pointed, s.now.buttons = true, head[0]
		s.now.pointer = image.Pt(min(at(1), width-1), min(at(3), height-1))
	case keyEvent:
		if down := head[0] != 0; down {
			s.now.key = binary.BigEndian.Uint32(head[3:])
		}
	case cutText:
		n := int64(int32(binary.BigEndian.Uint32(head[3:])))
		if n = max(n, -n); n > maxCutText {
			err = fmt.Errorf("cut text of %d bytes, more than %d", n, maxCutText)
		}
		rest = int(n)
	}
	return rest, err
}

// pixelFormat is how a pixel looks on the wire (RFC 6143, section 7.4):
//
//	u8 bits-per-pixel, u8 depth, u8 big-endian, u8 true-colour,
//	u16 red-max, u16 green-max, u16 blue-max, u8 red-shift, u8 green-shift, u8 blue-shift, 3 bytes of padding
type pixelFormat struct {
	bytes     int
	bigEndian bool
	parts     [3][256]uint32 // what each intensity of red, green and blue adds to a pixel
}

// initialPixels is the card's own format: 0x00RRGGBB, little-endian.
const initialPixels = "\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00"

var initialFormat, _ = readPixelFormat([]byte(initialPixels)) // which is a good one

// readPixelFormat refuses colour maps, and colours that do not fit into a pixel.
func readPixelFormat(p []byte) (*pixelFormat, error) {
	if p[0] != 8 && p[0] != 16 && p[0] != 32 {
		return nil, fmt.Errorf("%d bits per pixel, want 8, 16 or 32", p[0])
	}
	if p[3] == 0 {
		return nil, errors.New("colour maps are not supported")
	}
	f := &pixelFormat{bytes: int(p[0]) / 8, bigEndian: p[2] != 0}
	for i := range f.parts {
		most, shift := binary.BigEndian.Uint16(p[4+2*i:]), p[10+i]
		if most == 0 || most&(most+1) != 0 || int(shift)+bits.Len16(most) > int(p[0]) {
			return nil, fmt.Errorf("a colour of at most %d, shifted by %d, in %d bits", most, shift, p[0])
		}
		for v := range f.parts[i] {
			f.parts[i][v] = (uint32(v)*uint32(most) + 127) / 255 << shift
		}
	}
	return f, nil
}

// append adds the pixels that image.RGBA holds: red, green, blue and a byte that is ignored.
func (f *pixelFormat) append(dst, pixels []byte) []byte {
	for ; len(pixels) >= 4; pixels = pixels[4:] {
		v := f.parts[0][pixels[0]] | f.parts[1][pixels[1]] | f.parts[2][pixels[2]]
		for i := range f.bytes {
			if f.bigEndian {
				i = f.bytes - 1 - i
			}
			dst = append(dst, byte(v>>(8*i)))
		}
	}
	return dst
}

// stripHeight bounds what is painted at a time.
const stripHeight = 32

// writer writes updates to one viewer.
type writer struct {
	out    *bufio.Writer
	pixels []uint8 // of a strip
	packed []byte
}

// update sends areas as they look at the moment (RFC 6143, section 7.6.1). After one write has
// failed all later ones fail, so checking the last is enough.
//
//	u8 0, 1 byte, u16 number of rectangles, rectangles
//	rectangle  u16 x, u16 y, u16 width, u16 height, s32 0 (Raw), pixels
func (w *writer) update(areas []image.Rectangle, m moment, as *pixelFormat) error {
	_, _ = w.out.Write(binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(areas))))
	for _, r := range areas {
		var head []byte
		for _, v := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy(), 0, 0} {
			head = binary.BigEndian.AppendUint16(head, uint16(v))
		}
		_, _ = w.out.Write(head)
		for y := r.Min.Y; y < r.Max.Y; y += stripHeight {
			strip := image.Rect(r.Min.X, y, r.Max.X, min(y+stripHeight, r.Max.Y))
			img := &image.RGBA{Pix: w.pixels[:4*strip.Dx()*strip.Dy()], Stride: 4 * strip.Dx(), Rect: strip}
			m.paint(img)
			w.packed = as.append(w.packed[:0], img.Pix)
			if _, err := w.out.Write(w.packed); err != nil {
				return err
			}
		}
	}
	return w.out.Flush()
}
