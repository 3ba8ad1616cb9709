package testcard_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"net"
	"testing"
)

// format is a viewer's pixel format.
type format struct {
	name       string
	bits       int
	depth      int
	bigEndian  bool
	max, shift [3]int
}

var formats = []format{
	{"32 bits", 32, 24, false, [3]int{255, 255, 255}, [3]int{16, 8, 0}},
	{"32 bits, blue first, big-endian", 32, 24, true, [3]int{255, 255, 255}, [3]int{0, 8, 16}},
	{"32 bits, depth 30", 32, 30, false, [3]int{1023, 1023, 1023}, [3]int{20, 10, 0}},
	{"16 bits", 16, 16, false, [3]int{31, 63, 31}, [3]int{11, 5, 0}},
	{"16 bits, big-endian, depth 15", 16, 15, true, [3]int{31, 31, 31}, [3]int{10, 5, 0}},
	{"8 bits", 8, 8, false, [3]int{7, 7, 3}, [3]int{0, 3, 6}},
}

func (f format) message() []byte {
	p := []byte{0, 0, 0, 0, byte(f.bits), byte(f.depth), 0, 1}
	if f.bigEndian {
		p[6] = 1
	}
	for _, m := range f.max {
		p = binary.BigEndian.AppendUint16(p, uint16(m))
	}
	return append(p, byte(f.shift[0]), byte(f.shift[1]), byte(f.shift[2]), 0, 0, 0)
}

// colour reads a pixel as the wire has it, back to 8 bits a colour.
func (f format) colour(p []byte) color.RGBA {
	var v uint32
	for i, b := range p {
		if f.bigEndian {
			v = v<<8 | uint32(b)
		} else {
			v |= uint32(b) << (8 * i)
		}
	}
	part := func(i int) uint8 { return uint8((int(v>>f.shift[i])&f.max[i]*255 + f.max[i]/2) / f.max[i]) }
	return color.RGBA{R: part(0), G: part(1), B: part(2), A: 255}
}

// nearest is what is left of a colour in the format.
func (f format) nearest(c color.RGBA) color.RGBA {
	part := func(v uint8, m int) uint8 { return uint8(((int(v)*m+127)/255*255 + m/2) / m) }
	return color.RGBA{R: part(c.R, f.max[0]), G: part(c.G, f.max[1]), B: part(c.B, f.max[2]), A: 255}
}

// rectangle is what an update said of one.
type rectangle struct {
	area image.Rectangle
	kind string // raw, fill, jpeg, basic
	size int    // bytes of its data
}

// viewer is a small RFB client that checks what it reads.
type viewer struct {
	t      testing.TB
	conn   net.Conn
	screen *image.RGBA
	name   string
	format format

	packed bytes.Buffer // the first zlib stream of Tight
	stream io.Reader
}

func (v *viewer) read(n int) []byte {
	v.t.Helper()
	p := make([]byte, n)
	if _, err := io.ReadFull(v.conn, p); err != nil {
		v.t.Fatalf("reading %d bytes: %v", n, err)
	}
	return p
}

func (v *viewer) u16() int { return int(binary.BigEndian.Uint16(v.read(2))) }

func (v *viewer) write(p []byte) {
	v.t.Helper()
	if _, err := v.conn.Write(p); err != nil {
		v.t.Fatal(err)
	}
}

func (v *viewer) expect(want string) {
	v.t.Helper()
	if got := v.read(len(want)); string(got) != want {
		v.t.Fatalf("got %q, want %q", got, want)
	}
}

// greet does the handshake.
func greet(t testing.TB, conn net.Conn) *viewer {
	t.Helper()
	v := &viewer{t: t, conn: conn, format: formats[0]}
	v.expect("RFB 003.008\n")
	v.write([]byte("RFB 003.008\n"))
	v.expect("\x01\x01")
	v.write([]byte{1})
	v.expect("\x00\x00\x00\x00")
	v.write([]byte{0})
	width, height := v.u16(), v.u16()
	v.screen = image.NewRGBA(image.Rect(0, 0, width, height))
	v.expect("\x20\x18\x00\x01\x00\xff\x00\xff\x00\xff\x10\x08\x00\x00\x00\x00")
	v.name = string(v.read(int(binary.BigEndian.Uint32(v.read(4)))))
	return v
}

func (v *viewer) setFormat(f format) {
	v.write(f.message())
	v.format = f
}

func encodings(list ...int32) []byte {
	p := binary.BigEndian.AppendUint16([]byte{2, 0}, uint16(len(list)))
	for _, e := range list {
		p = binary.BigEndian.AppendUint32(p, uint32(e))
	}
	return p
}

func request(incremental byte, r image.Rectangle) []byte {
	p := []byte{3, incremental}
	for _, n := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		p = binary.BigEndian.AppendUint16(p, uint16(n))
	}
	return p
}

// all asks for the whole picture, changes for what is new, and both read the answer.
func (v *viewer) all() []rectangle {
	v.t.Helper()
	v.write(request(0, v.screen.Rect))
	return v.update()
}

func (v *viewer) changes() []rectangle {
	v.t.Helper()
	v.write(request(1, v.screen.Rect))
	return v.update()
}

func (v *viewer) update() []rectangle {
	v.t.Helper()
	v.expect("\x00\x00")
	out := make([]rectangle, v.u16())
	for i := range out {
		x, y, width, height := v.u16(), v.u16(), v.u16(), v.u16()
		out[i].area = image.Rect(x, y, x+width, y+height)
		if out[i].area.Empty() || !out[i].area.In(v.screen.Rect) {
			v.t.Fatalf("rectangle %v", out[i].area)
		}
		switch encoding := binary.BigEndian.Uint32(v.read(4)); encoding {
		case 0:
			out[i].kind = "raw"
			size := v.format.bits / 8
			out[i].size = size * width * height
			v.draw(out[i].area, v.read(out[i].size), size, v.format.colour)
		case 7:
			v.tight(&out[i])
		default:
			v.t.Fatalf("encoding %d", encoding)
		}
	}
	return out
}

func (v *viewer) draw(area image.Rectangle, pixels []byte, size int, colour func([]byte) color.RGBA) {
	var last []byte
	var c color.RGBA
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := v.screen.Pix[v.screen.PixOffset(area.Min.X, y):][:4*area.Dx()]
		for ; len(row) > 0; row = row[4:] {
			if next := pixels[:size]; !bytes.Equal(last, next) {
				last, c = next, colour(next)
			}
			row[0], row[1], row[2], row[3] = c.R, c.G, c.B, c.A
			pixels = pixels[size:]
		}
	}
}

func (v *viewer) tight(r *rectangle) {
	v.t.Helper()
	size, colour := v.format.bits/8, v.format.colour
	if v.format.bits == 32 && v.format.depth == 24 {
		size, colour = 3, func(p []byte) color.RGBA { return color.RGBA{p[0], p[1], p[2], 255} }
	}
	pixels := size * r.area.Dx() * r.area.Dy()
	switch control := v.read(1)[0]; {
	case control == 0x80:
		r.kind, r.size = "fill", size
		v.draw(r.area, bytes.Repeat(v.read(size), pixels/size), size, colour)
	case control == 0x90:
		data := v.counted()
		r.kind, r.size = "jpeg", len(data)
		picture, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil || picture.Bounds() != r.area.Sub(r.area.Min) {
			v.t.Fatalf("JPEG for %v: %v, %v", r.area, picture, err)
		}
		for y := range r.area.Dy() {
			for x := range r.area.Dx() {
				v.screen.Set(r.area.Min.X+x, r.area.Min.Y+y, picture.At(x, y))
			}
		}
	case control == 0 && pixels < 12:
		r.kind, r.size = "basic", pixels
		v.draw(r.area, v.read(pixels), size, colour)
	case control == 0:
		data := v.counted()
		r.kind, r.size = "basic", len(data)
		v.packed.Write(data)
		if v.stream == nil {
			stream, err := zlib.NewReader(&v.packed)
			if err != nil {
				v.t.Fatal(err)
			}
			v.stream = stream
		}
		unpacked := make([]byte, pixels)
		if _, err := io.ReadFull(v.stream, unpacked); err != nil {
			v.t.Fatalf("unpacking %v: %v", r.area, err)
		}
		v.draw(r.area, unpacked, size, colour)
	default:
		v.t.Fatalf("Tight control %#x", control)
	}
}

// counted reads Tight's length, in its shortest form, and that much.
func (v *viewer) counted() []byte {
	v.t.Helper()
	n := 0
	for i := range 3 {
		b := int(v.read(1)[0])
		if i == 2 {
			n |= b << 14
			break
		}
		n |= b & 0x7f << (7 * i)
		if b < 0x80 {
			break
		}
	}
	return v.read(n)
}

// near reports whether no colour differs by more than that.
func near(a, b color.RGBA, most int) error {
	for _, d := range [3]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B)} {
		if d > most || -d > most {
			return fmt.Errorf("%v, want %v", a, b)
		}
	}
	return nil
}

func centre(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }
