package testcard_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
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

// viewer is a small RFB client that checks what it reads.
type viewer struct {
	t      testing.TB
	conn   net.Conn
	screen *image.RGBA
	name   string
	format format
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

func request(incremental byte, r image.Rectangle) []byte {
	p := []byte{3, incremental}
	for _, n := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		p = binary.BigEndian.AppendUint16(p, uint16(n))
	}
	return p
}

// all asks for the whole picture, changes for what is new, and both read the answer.
func (v *viewer) all() []image.Rectangle {
	v.t.Helper()
	v.write(request(0, v.screen.Rect))
	return v.update()
}

func (v *viewer) changes() []image.Rectangle {
	v.t.Helper()
	v.write(request(1, v.screen.Rect))
	return v.update()
}

func (v *viewer) update() []image.Rectangle {
	v.t.Helper()
	v.expect("\x00\x00")
	out := make([]image.Rectangle, v.u16())
	for i := range out {
		x, y, width, height := v.u16(), v.u16(), v.u16(), v.u16()
		out[i] = image.Rect(x, y, x+width, y+height)
		if out[i].Empty() || !out[i].In(v.screen.Rect) {
			v.t.Fatalf("rectangle %v", out[i])
		}
		v.expect("\x00\x00\x00\x00") // Raw
		size := v.format.bits / 8
		v.draw(out[i], v.read(size*width*height), size, v.format.colour)
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

func centre(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }
