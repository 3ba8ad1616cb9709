package framebuffer

import (
	"encoding/binary"
	"math/bits"
)

// LiveFormat is the pixel format of a picture: 32 bits, little-endian, red first. Its pixels need only
// their last byte set.
var LiveFormat = [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16}

// pixels reads one kind of them.
type pixels struct {
	size    int // bytes of each
	big     bool
	most    [3]uint32     // of red, green and blue, as they are sent
	shift   [3]uint       // of them, in a pixel
	scale   [3][]byte     // their intensities
	octets  bool          // each is a byte; shift is for little-endian
	colours *[256][4]byte // of a colour map, else nil
}

// formats are a pixel format as encodings have it.
type formats struct {
	whole   pixels // PIXEL
	compact pixels // CPIXEL of ZRLE
	tight   pixels // TPIXEL
}

// readFormat reads a PIXEL_FORMAT (RFC 6143, section 7.4). Besides what that allows, a pixel may have
// 24 bits.
func readFormat(f [16]byte, colours *[256][4]byte) (formats, error) {
	p := pixels{size: int(f[0]) / 8, big: f[2] != 0}
	if f[0]%8 != 0 || p.size < 1 || p.size > 4 {
		return formats{}, wrong("a pixel format of %d bits", f[0])
	}
	if f[3] == 0 {
		if p.size != 1 {
			return formats{}, wrong("a colour map for pixels of %d bits", f[0])
		}
		p.colours = colours
		return formats{p, p, p}, nil
	}
	all, octets := uint32(0), p.size >= 3
	for i := range p.most {
		most, shift := binary.BigEndian.Uint16(f[4+2*i:]), uint(f[10+i])
		if most == 0 || most&(most+1) != 0 || int(shift)+bits.Len16(most) > int(f[0]) {
			return formats{}, wrong("a pixel format with a colour of at most %d, shifted by %d, in %d bits", most, shift, f[0])
		}
		p.most[i], p.shift[i] = uint32(most), shift
		p.scale[i] = make([]byte, int(most)+1)
		for v := range p.scale[i] {
			p.scale[i][v] = byte((v*255 + int(most)/2) / int(most))
		}
		all |= uint32(most) << shift
		octets = octets && most == 255 && shift%8 == 0
	}
	compact, deep := p, f[1] <= 24
	low, high := all < 1<<24, all&0xff == 0
	if p.size == 4 && deep && (low || high) {
		compact.size = 3
		if high && (p.big || !low) {
			for i := range compact.shift {
				compact.shift[i] -= 8
			}
		}
	}
	tight := p
	if p.size == 4 && f[1] == 24 && p.most == [3]uint32{255, 255, 255} {
		tight = pixels{size: 3, most: p.most, shift: [3]uint{0, 8, 16}, scale: p.scale}
		tight.octets = true
	}
	for _, q := range []*pixels{&p, &compact} {
		if q.octets = octets; octets && q.big {
			for i := range q.shift {
				q.shift[i] = uint(8*q.size-8) - q.shift[i]
			}
		}
	}
	return formats{p, compact, tight}, nil
}

// load reads a pixel as a number.
func (p *pixels) load(src []byte) (v uint32) {
	for i := range p.size {
		if p.big && !p.octets {
			v = v<<8 | uint32(src[i])
		} else {
			v |= uint32(src[i]) << (8 * i)
		}
	}
	return v
}

const opaque = 0xff << 24

// convert makes pixels of a picture from as many as dst has room for.
func (p *pixels) convert(dst, src []byte) {
	red, green, blue := p.shift[0]&31, p.shift[1]&31, p.shift[2]&31
	switch {
	case p.colours != nil:
		for i := range len(dst) / 4 {
			copy(dst[4*i:], p.colours[src[i]][:])
		}
	case p.octets && p.size == 4:
		for ; len(dst) >= 4 && len(src) >= 4; dst, src = dst[4:], src[4:] {
			v := binary.LittleEndian.Uint32(src)
			binary.LittleEndian.PutUint32(dst, v>>red&0xff|v>>green&0xff<<8|v>>blue&0xff<<16|opaque)
		}
	case p.octets:
		for ; len(dst) >= 4 && len(src) >= 3; dst, src = dst[4:], src[3:] {
			v := uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
			binary.LittleEndian.PutUint32(dst, v>>red&0xff|v>>green&0xff<<8|v>>blue&0xff<<16|opaque)
		}
	default:
		for ; len(dst) >= 4 && len(src) >= p.size; dst, src = dst[4:], src[p.size:] {
			v := p.load(src)
			for i := range p.scale {
				dst[i] = p.scale[i][v>>p.shift[i]&p.most[i]]
			}
			dst[3] = 255
		}
	}
}
