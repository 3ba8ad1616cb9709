package framebuffer_test

import (
	"bufio"
	"bytes"
	"fmt"
	"image"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// story is all that a decoder says of a stream.
func story(d *framebuffer.Decoder, r *bufio.Reader) string {
	var b strings.Builder
	for {
		m, err := d.Read(r)
		fmt.Fprintf(&b, "%+v %v\n", m, err)
		if err != nil {
			return b.String()
		}
	}
}

// FuzzRead checks that any bytes are read without harm, and that it does not matter how they are cut.
func FuzzRead(f *testing.F) {
	formats := [][16]byte{redFirst, blueFirst, bigHigh, deepest, fifteen, sixteen, eight, mapped}
	for i, format := range formats {
		for _, encode := range ways {
			s := &server{format: format, img: scene(40, 30)}
			stream := update(encode(s, s.img.Rect)...) + update(rect(image.Rect(0, 0, 9, 9), 1, u16(3), u16(4))) + update(encode(s, image.Rect(3, 5, 40, 9))...)
			f.Add(uint8(i), []byte(stream))
		}
	}
	s := &server{format: redFirst, img: scene(40, 30)}
	f.Add(uint8(0), []byte(update(s.tightJPEG(s.img.Rect)...)))
	f.Add(uint8(0), []byte(bell+update(rect(image.Rect(1, 1, 4, 3), -239, strings.Repeat("four", 6), "\xa0\x40"), rect(image.Rect(0, 0, 30, 50), -223))))
	f.Add(uint8(7), []byte(colourMap()[:200]+"\x03..."+u32(-12)+u32(1<<24|1)+u32(4096)))
	f.Fuzz(func(t *testing.T, which uint8, stream []byte) {
		init := rfb.Init{Width: 40, Height: 30, Format: formats[int(which)%len(formats)]}
		once, err := framebuffer.NewDecoder(init)
		if err != nil {
			t.Fatal(err)
		}
		pieces, _ := framebuffer.NewDecoder(init)
		want := story(once, bufio.NewReaderSize(bytes.NewReader(stream), 1<<16))
		if got := story(pieces, bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(stream)), 16)); got != want {
			t.Fatalf("byte by byte:\n%s\nat once:\n%s", got, want)
		}
		p := once.Picture()
		if len(p.Pix) != 4*p.Width*p.Height || p.Width*p.Height > framebuffer.MaxPixels || p.Width*p.Height == 0 {
			t.Fatalf("a picture of %dx%d with %d bytes", p.Width, p.Height, len(p.Pix))
		}
		if !bytes.Equal(p.Pix, pieces.Picture().Pix) {
			t.Fatal("byte by byte the picture is another")
		}
		for i := 3; i < len(p.Pix); i += 4 {
			if p.Pix[i] != 255 {
				t.Fatalf("pixel %d is transparent", i/4)
			}
		}
	})
}
