package framebuffer_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"strings"
)

// Pixel formats of servers and viewers.
var (
	redFirst  = [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16}
	blueFirst = [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0}
	bigEndian = [16]byte{32, 24, 1, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0}
	highBytes = [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 24, 16, 8}
	bigHigh   = [16]byte{32, 24, 1, 1, 0, 255, 0, 255, 0, 255, 8, 16, 24}
	noDepth   = [16]byte{32, 25, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16} // CPIXEL and TPIXEL are whole then
	deepest   = [16]byte{32, 30, 0, 1, 3, 255, 3, 255, 3, 255, 20, 10, 0}
	fifteen   = [16]byte{32, 15, 1, 1, 0, 31, 0, 31, 0, 31, 10, 5, 0}
	packed24  = [16]byte{24, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16}
	sixteen   = [16]byte{16, 16, 0, 1, 0, 31, 0, 63, 0, 31, 11, 5, 0}
	bigThin   = [16]byte{16, 15, 1, 1, 0, 31, 0, 31, 0, 31, 10, 5, 0}
	eight     = [16]byte{8, 8, 0, 1, 0, 7, 0, 7, 0, 3, 0, 3, 6}
	mapped    = [16]byte{8, 8}

	allFormats = map[string][16]byte{
		"red first": redFirst, "blue first": blueFirst, "big-endian": bigEndian, "high bytes": highBytes, "big high": bigHigh,
		"depth 25": noDepth, "10 bits": deepest, "5 bits in 32": fifteen, "24": packed24, "16": sixteen, "big 15": bigThin, "8": eight, "mapped": mapped,
	}
)

// channel is a colour's most and shift in a pixel.
func channel(format [16]byte, i int) (most, shift int) {
	return int(format[4+2*i])<<8 | int(format[5+2*i]), int(format[10+i])
}

// value is the number of a pixel. A colour map has its colours as [colourMap] says.
func value(format [16]byte, c []byte) (v uint32) {
	if format[3] == 0 {
		return uint32(c[0]/52*36 + c[1]/52*6 + c[2]/52)
	}
	for i := range 3 {
		most, shift := channel(format, i)
		v |= uint32(int(c[i])*most/255) << shift
	}
	return v
}

// shown is the colour that a viewer sees of c in a format.
func shown(format [16]byte, c []byte) (out [3]byte) {
	for i := range out {
		most, _ := channel(format, i)
		if format[3] == 0 {
			out[i] = c[i] / 52 * 51
			continue
		}
		out[i] = byte((float64(int(c[i])*most/255))*255/float64(most) + 0.5)
	}
	return out
}

// colourMap are 216 colours.
func colourMap() string {
	s := "\x01." + u16(0) + u16(216)
	for i := range 216 {
		for _, part := range []int{i / 36, i / 6 % 6, i % 6} {
			s += u16(part * 51 * 257)
		}
	}
	return s
}

func pixel(format [16]byte, c []byte) string { return number(format, value(format, c)) }

// number is a pixel as its bytes.
func number(format [16]byte, v uint32) string {
	var b [4]byte
	n := int(format[0]) / 8
	if format[2] != 0 {
		binary.BigEndian.PutUint32(b[:], v<<(32-format[0]))
	} else {
		binary.LittleEndian.PutUint32(b[:], v)
	}
	return string(b[:n])
}

// cpixel is that of ZRLE: without the byte of 32 bits that no colour uses.
func cpixel(format [16]byte, c []byte) string {
	p := pixel(format, c)
	white := pixel(format, []byte{255, 255, 255})
	switch {
	case format[0] != 32 || format[1] > 24 || format[3] == 0:
		return p
	case white[3] == 0:
		return p[:3]
	case white[0] == 0:
		return p[1:]
	}
	return p
}

// tpixel is that of Tight: red, green and blue, if each has 8 bits of 24.
func tpixel(format [16]byte, c []byte) string {
	if format[0] == 32 && format[1] == 24 {
		return string(c[:3])
	}
	return pixel(format, c)
}

func u16(n int) string { return string(binary.BigEndian.AppendUint16(nil, uint16(n))) }
func u32(n int) string { return string(binary.BigEndian.AppendUint32(nil, uint32(n))) }

// rect is a rectangle with its body.
func rect(r image.Rectangle, encoding int32, body ...string) string {
	return u16(r.Min.X) + u16(r.Min.Y) + u16(r.Dx()) + u16(r.Dy()) + u32(int(encoding)) + strings.Join(body, "")
}

// update is a FramebufferUpdate.
func update(rects ...string) string { return "\x00." + u16(len(rects)) + strings.Join(rects, "") }

// deflater is a zlib stream of a server.
type deflater struct {
	out bytes.Buffer
	w   *zlib.Writer
}

// flush is what the server sends for some bytes of the stream.
func (z *deflater) flush(plain string) string {
	if z.w == nil {
		z.w = zlib.NewWriter(&z.out)
	}
	_, _ = z.w.Write([]byte(plain))
	_ = z.w.Flush()
	defer z.out.Reset()
	return z.out.String()
}

// server encodes a picture. Each way of encoding is asked for by name, whether or not it is a good one.
type server struct {
	format  [16]byte
	img     *image.RGBA
	streams [6]deflater
	again   bool // streams look back at nothing, so that the same bytes can be sent again
}

// flush compresses the next bytes of a stream.
func (s *server) flush(stream int, plain string) string {
	if s.again {
		return restart(plain)
	}
	return s.streams[stream].flush(plain)
}

// at is the colour of a pixel.
func (s *server) at(x, y int) []byte { return s.img.Pix[s.img.PixOffset(x, y):][:3] }

// each is what f makes of each pixel.
func (s *server) each(r image.Rectangle, f func([16]byte, []byte) string) string {
	var b strings.Builder
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			b.WriteString(f(s.format, s.at(x, y)))
		}
	}
	return b.String()
}

// tiles are the parts of r.
func tiles(r image.Rectangle, side int) (all []image.Rectangle) {
	for y := r.Min.Y; y < r.Max.Y; y += side {
		for x := r.Min.X; x < r.Max.X; x += side {
			all = append(all, image.Rect(x, y, x+side, y+side).Intersect(r))
		}
	}
	return all
}

// palette are the pixels of r in the order in which they come, and the index of each.
func (s *server) palette(r image.Rectangle, f func([16]byte, []byte) string) (colours []string, indexes []int) {
	known := map[string]int{}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			p := f(s.format, s.at(x, y))
			i, ok := known[p]
			if !ok {
				i = len(colours)
				known[p], colours = i, append(colours, p)
			}
			indexes = append(indexes, i)
		}
	}
	return colours, indexes
}

func (s *server) raw(r image.Rectangle) []string { return []string{rect(r, 0, s.each(r, pixel))} }
