package framebuffer_test

import (
	"bufio"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// scene has parts of one colour, of few, of many, and of as many as there are pixels.
func scene(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{R: 40, G: 90, B: 200, A: 255}
			switch tile := x/36 + y/36; tile % 6 {
			case 1:
				if (x/3+y/5)%2 == 0 {
					c = color.RGBA{R: 250, G: 250, B: 10, A: 255}
				}
			case 2:
				c.R = byte(x / 8 % 4 * 80)
			case 3:
				c.G = byte((x/5 + y/5) % 15 * 17)
			case 4:
				c.B, c.R = byte(x/2%32*8), byte(y/16*60)
			case 5:
				c = color.RGBA{R: byte(x * 3), G: byte(y * 5), B: byte(x*y + x), A: 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func newDecoder(t testing.TB, format [16]byte, size image.Point) *framebuffer.Decoder {
	t.Helper()
	d, err := framebuffer.NewDecoder(rfb.Init{Width: uint16(size.X), Height: uint16(size.Y), Format: format})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read has the decoder read messages, and returns the last.
func read(t testing.TB, d *framebuffer.Decoder, stream string) (m framebuffer.Message) {
	t.Helper()
	r := bufio.NewReader(strings.NewReader(stream))
	for {
		if _, err := r.Peek(1); err != nil {
			return m
		}
		var err error
		if m, err = d.Read(r); err != nil {
			t.Fatal(err)
		}
	}
}

// wantPicture compares what was decoded with what a viewer sees of a picture in a format.
func wantPicture(t testing.TB, d *framebuffer.Decoder, format [16]byte, want *image.RGBA) {
	t.Helper()
	got := d.Picture()
	if got.Width != want.Rect.Dx() || got.Height != want.Rect.Dy() || len(got.Pix) != len(want.Pix) {
		t.Fatalf("%dx%d with %d bytes, want %v", got.Width, got.Height, len(got.Pix), want.Rect)
	}
	for i := 0; i < len(want.Pix); i += 4 {
		c := shown(format, want.Pix[i:])
		if g := got.Pix[i:]; g[0] != c[0] || g[1] != c[1] || g[2] != c[2] || g[3] != 255 {
			at := i / 4
			t.Fatalf("% x at %d,%d, want % x", g[:4], at%got.Width, at/got.Width, c)
		}
	}
}

// ways are the encodings of whole rectangles.
var ways = map[string]func(*server, image.Rectangle) []string{
	"raw": (*server).raw, "RRE": (*server).rre, "CoRRE": (*server).corre, "hextile": (*server).hextile, "zlib": (*server).zlib,
	"ZRLE": (*server).zrle, "tight copy": (*server).tightCopy, "tight colours": (*server).tightColours,
	"tight gradient": (*server).tightGradient,
}

// Whole pictures, then parts that begin and end anywhere: streams and palettes go on.
func TestEveryEncodingInEveryPixelFormat(t *testing.T) {
	for format, f := range allFormats {
		for way, encode := range ways {
			t.Run(format+"/"+way, func(t *testing.T) {
				s := &server{format: f, img: scene(216, 75)}
				d := newDecoder(t, f, s.img.Rect.Max)
				m := read(t, d, colourMap()+update(encode(s, s.img.Rect)...))
				wantPicture(t, d, f, s.img)
				if m.Kind != framebuffer.Update || m.Damage != s.img.Rect {
					t.Errorf("%+v", m)
				}
				s.img.Pix = append(s.img.Pix[400:], s.img.Pix[:400]...)
				for _, r := range []image.Rectangle{{Max: image.Pt(150, 40)}, image.Rect(150, 0, 216, 40), image.Rect(0, 40, 1, 75), image.Rect(1, 40, 216, 75)} {
					read(t, d, update(encode(s, r)...))
				}
				wantPicture(t, d, f, s.img)
			})
		}
	}
}
