package testcard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// pixelFormat is how a pixel looks on the wire (RFC 6143, section 7.4):
//
//	u8 bits-per-pixel, u8 depth, u8 big-endian, u8 true-colour,
//	u16 red-max, u16 green-max, u16 blue-max, u8 red-shift, u8 green-shift, u8 blue-shift, 3 bytes of padding
type pixelFormat struct {
	bitsPerPixel, depth uint8
	bigEndian           bool
	max                 [3]uint16 // red, green, blue; each 2^n - 1
	shift               [3]uint8
}

const pixelFormatSize = 16

// initialFormat is the card's own: 0x00RRGGBB, little-endian.
var initialFormat = pixelFormat{bitsPerPixel: 32, depth: 24, max: [3]uint16{255, 255, 255}, shift: [3]uint8{16, 8, 0}}

func (f pixelFormat) append(dst []byte) []byte {
	var bigEndian byte
	if f.bigEndian {
		bigEndian = 1
	}
	dst = append(dst, f.bitsPerPixel, f.depth, bigEndian, 1)
	for _, m := range f.max {
		dst = binary.BigEndian.AppendUint16(dst, m)
	}
	return append(dst, f.shift[0], f.shift[1], f.shift[2], 0, 0, 0)
}

// readPixelFormat refuses colour maps, and colours that do not fit into a pixel.
func readPixelFormat(p [pixelFormatSize]byte) (pixelFormat, error) {
	f := pixelFormat{bitsPerPixel: p[0], depth: p[1], bigEndian: p[2] != 0}
	if f.bitsPerPixel != 8 && f.bitsPerPixel != 16 && f.bitsPerPixel != 32 {
		return f, fmt.Errorf("%d bits per pixel, want 8, 16 or 32", f.bitsPerPixel)
	}
	if p[3] == 0 {
		return f, errors.New("colour maps are not supported")
	}
	for i := range f.max {
		f.max[i] = binary.BigEndian.Uint16(p[4+2*i:])
		f.shift[i] = p[10+i]
		wide := bits.Len16(f.max[i])
		if f.max[i] == 0 || f.max[i]&(f.max[i]+1) != 0 || int(f.shift[i])+wide > int(f.bitsPerPixel) {
			return f, fmt.Errorf("a colour of at most %d, shifted by %d, in %d bits", f.max[i], f.shift[i], f.bitsPerPixel)
		}
	}
	return f, nil
}

// packer turns colours into pixels of a format.
type packer struct {
	format pixelFormat
	rgb    bool           // Tight's TPIXEL: three bytes, red, green, blue
	parts  [3][256]uint32 // what each intensity adds to a pixel
}

// newPacker returns the packer of f. tight is for pixels of the Tight encoding, which have three
// bytes where bits per pixel is 32, depth 24 and each colour has 8 bits.
func newPacker(f pixelFormat, tight bool) *packer {
	p := &packer{format: f}
	p.rgb = tight && f.bitsPerPixel == 32 && f.depth == 24 && f.max == [3]uint16{255, 255, 255}
	for i := range p.parts {
		for v := range p.parts[i] {
			p.parts[i][v] = (uint32(v)*uint32(f.max[i]) + 127) / 255 << f.shift[i]
		}
	}
	return p
}

// append adds the pixels of a row as image.RGBA holds them: red, green, blue and a byte that is
// ignored.
func (p *packer) append(dst, row []byte) []byte {
	for ; len(row) >= 4; row = row[4:] {
		if p.rgb {
			dst = append(dst, row[0], row[1], row[2])
			continue
		}
		v := p.parts[0][row[0]] | p.parts[1][row[1]] | p.parts[2][row[2]]
		switch {
		case p.format.bitsPerPixel == 8:
			dst = append(dst, byte(v))
		case p.format.bitsPerPixel == 16 && p.format.bigEndian:
			dst = append(dst, byte(v>>8), byte(v))
		case p.format.bitsPerPixel == 16:
			dst = append(dst, byte(v), byte(v>>8))
		case p.format.bigEndian:
			dst = binary.BigEndian.AppendUint32(dst, v)
		default:
			dst = binary.LittleEndian.AppendUint32(dst, v)
		}
	}
	return dst
}
